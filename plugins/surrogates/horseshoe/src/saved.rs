//! A surrogate as bytes: its observations in the order they came, and where its chain stands.
//!
//! | bytes | what |
//! | --- | --- |
//! | 9 + 4 | `horseshoe`, the version |
//! | 4 + 4 | how many bits, the order |
//! | 4 + 4 | how many points P, how many observations N |
//! | P · ⌈bits/8⌉ | the points, bit i in byte i/8 from the lowest on |
//! | N · 12 | which point, and its value, ∞ where it is infeasible |
//! | 1 | whether there is a chain, and if so: |
//! | 4 + 8 + 8 · terms | when it burned in, τ², λ² of each term |
//! | 8 | a checksum of all before it (FNV-1a) |
//!
//! Numbers stand with their lowest byte first. Nothing is believed: counts are held against the bytes there are before
//! anything is allocated, and the observations go the way of new ones.

use plugin_api::{Bits, Error, Result};

use crate::chain::State;
use crate::observations::Observations;
use crate::{Horseshoe, LastDraw};

const NAME: &[u8] = b"horseshoe";
const VERSION: u32 = 2;
/// In the place of a value that there is none of.
const INFEASIBLE: f64 = f64::INFINITY;

/// The surrogate's state.
pub(crate) fn write(surrogate: &Horseshoe) -> Result<Vec<u8>> {
    let observations = &surrogate.observations;
    let count = |count: usize| {
        u32::try_from(count).map_err(|_| Error::new(format!("{count} observations are too many to save")))
    };
    let mut bytes = NAME.to_vec();
    let header = [surrogate.layout.dimension(), usize::from(surrogate.options.order)];
    bytes.extend(VERSION.to_le_bytes());
    for number in header.into_iter().chain([observations.design().rows(), observations.count()]) {
        bytes.extend(count(number)?.to_le_bytes());
    }
    for point in observations.points() {
        bytes.extend(
            point.chunks(8).map(|bits| bits.iter().rev().fold(0, |byte, &bit| byte << 1 | u8::from(bit))),
        );
    }
    for &(point, value) in observations.history() {
        bytes.extend(count(point)?.to_le_bytes());
        bytes.extend(value.unwrap_or(INFEASIBLE).to_le_bytes());
    }
    bytes.push(u8::from(surrogate.last.is_some()));
    if let Some(last) = &surrogate.last {
        bytes.extend(count(last.burned_in)?.to_le_bytes());
        for scale in std::iter::once(&last.state.tau2).chain(&last.state.lambda2) {
            bytes.extend(scale.to_le_bytes());
        }
    }
    seal(&mut bytes);
    Ok(bytes)
}

/// Makes the surrogate go on from a state; a refused state changes nothing.
pub(crate) fn read(surrogate: &mut Horseshoe, bytes: &[u8]) -> Result<()> {
    let (observations, last) = parse(surrogate, bytes)
        .map_err(|error| Error::new(format!("not a state of this surrogate: {}", error.message())))?;
    surrogate.observations = observations;
    surrogate.moments = Default::default();
    surrogate.last = last;
    Ok(())
}

fn parse(surrogate: &Horseshoe, bytes: &[u8]) -> Result<(Observations, Option<LastDraw>)> {
    let unequal = |what: &str, found: u32, expected: u32| {
        if found == expected {
            Ok(())
        } else {
            Err(Error::new(format!("its {what} is {found}, not {expected}")))
        }
    };
    let mut rest = Reader(bytes.strip_prefix(NAME).ok_or_else(|| Error::new("it starts otherwise"))?);
    // The version first: another one may be sealed in another way.
    unequal("version", rest.number()?, VERSION)?;
    let (sealed, checksum) = bytes.split_last_chunk().ok_or_else(|| Error::new("it is cut off"))?;
    if checksum_of(sealed) != u64::from_le_bytes(*checksum) {
        return Err(Error::new("it is damaged or cut off"));
    }
    rest = Reader(sealed.get(NAME.len() + 4..).ok_or_else(|| Error::new("it is cut off"))?);
    let (bits, order) = (surrogate.layout.dimension(), surrogate.options.order);
    unequal("number of bits", rest.number()?, bits as u32)?;
    unequal("order", rest.number()?, u32::from(order))?;

    let (points, count) = (rest.number()? as usize, rest.number()? as usize);
    let packed = rest.take(points.saturating_mul(bits.div_ceil(8)))?;
    if bits == 0 && points > 1 {
        return Err(Error::new("it has several points without bits"));
    }
    let unused = |point: &[u8]| !bits.is_multiple_of(8) && point[bits / 8] >> (bits % 8) != 0;
    if bits > 0 && packed.chunks(bits.div_ceil(8)).any(unused) {
        return Err(Error::new("a point has more bits"));
    }
    let mut history = Reader(rest.take(count.saturating_mul(12))?);
    let mut observations = Observations::new(&surrogate.layout, usize::from(order));
    for _ in 0..count {
        let (point, value) = (history.number()? as usize, history.float()?);
        if point > observations.design().rows().min(points.saturating_sub(1)) {
            return Err(Error::new("an observation of no point"));
        }
        let packed = &packed[point * bits.div_ceil(8)..];
        let point: Bits = (0..bits).map(|i| packed[i / 8] >> (i % 8) & 1 == 1).collect();
        observations.add(&point, Some(value).filter(|value| *value != INFEASIBLE))?;
    }
    if (observations.design().rows(), observations.count()) != (points, count) {
        return Err(Error::new("some of its observations are the same"));
    }
    let last = match rest.take(1)? {
        [0] => None,
        [1] => Some(chain(&mut rest, observations.design().columns(), count)?),
        _ => return Err(Error::new("its chain is broken")),
    };
    if !rest.0.is_empty() {
        return Err(Error::new("it is too long"));
    }
    Ok((observations, last))
}

fn chain(rest: &mut Reader<'_>, terms: usize, observed: usize) -> Result<LastDraw> {
    let burned_in = rest.number()? as usize;
    let tau2 = rest.float()?;
    let mut scales = Reader(rest.take(8 * terms)?);
    let lambda2: Vec<f64> = (0..terms).map(|_| scales.float()).collect::<Result<_>>()?;
    let state = State { tau2, lambda2 };
    if burned_in > observed || !state.is_valid() {
        return Err(Error::new("its chain is broken"));
    }
    Ok(LastDraw { state, burned_in })
}

/// What has not been read yet.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or_else(|| Error::new("it is cut off"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk().ok_or_else(|| Error::new("it is cut off"))?;
        self.0 = rest;
        Ok(*taken)
    }

    fn number(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn float(&mut self) -> Result<f64> {
        self.array().map(f64::from_le_bytes)
    }
}

fn seal(bytes: &mut Vec<u8>) {
    let checksum = checksum_of(bytes);
    bytes.extend(checksum.to_le_bytes());
}

fn checksum_of(bytes: &[u8]) -> u64 {
    let fold = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, fold)
}

#[cfg(test)]
mod tests {
    use plugin_api::{DrawRequest, Layout, Surrogate};
    use proptest::prelude::*;

    use super::*;
    use crate::Options;

    fn surrogate(bits: usize) -> Horseshoe {
        Horseshoe::new(Options::default(), &Layout::free(bits)).unwrap()
    }

    fn state() -> Vec<u8> {
        let mut one = surrogate(10);
        for (x, value) in [("1010110011", 0.1), ("0100000001", 1e300), ("1010110011", 0.3)] {
            one.observe(&x.parse().unwrap(), &value.into()).unwrap();
        }
        one.draw(&DrawRequest::new(1)).unwrap();
        one.save().unwrap().unwrap()
    }

    /// The state with another checksum, after bytes from `at` on were replaced.
    fn changed(at: usize, by: &[u8]) -> Vec<u8> {
        let mut bytes = state();
        bytes[at..at + by.len()].copy_from_slice(by);
        bytes.truncate(bytes.len() - 8);
        seal(&mut bytes);
        bytes
    }

    // Where the parts of `state` start.
    const HEADER: usize = NAME.len() + 4;
    const POINTS: usize = HEADER + 16;
    const HISTORY: usize = POINTS + 2 * 2;
    const CHAIN: usize = HISTORY + 3 * 12;

    #[test]
    fn a_restored_surrogate_saves_the_same_state() {
        let mut other = surrogate(10);
        other.restore(&state()).unwrap();
        assert_eq!(other.save().unwrap().unwrap(), state());
        // 55 terms.
        assert_eq!(state().len(), CHAIN + 1 + 4 + 8 + 8 * 55 + 8);
    }

    #[test]
    fn what_is_no_state_of_the_surrogate_is_refused_and_changes_nothing() {
        let shorter = state()[..40].to_vec();
        let longer = {
            let mut bytes = state();
            bytes.truncate(bytes.len() - 8);
            bytes.push(0);
            seal(&mut bytes);
            bytes
        };
        let refusals = [
            (changed(NAME.len(), &[1]), "its version is 1, not 2"),
            (changed(HEADER, &[11]), "its number of bits is 11, not 10"),
            (changed(HEADER + 4, &[3]), "its order is 3, not 2"),
            (changed(HEADER + 8, &[0xff; 4]), "it is cut off"),
            (changed(HEADER + 12, &[0xff; 4]), "it is cut off"),
            (changed(POINTS + 2, &state()[POINTS..POINTS + 2]), "some of its observations are the same"),
            (changed(POINTS + 1, &[5]), "a point has more bits"),
            (changed(HISTORY, &[7]), "an observation of no point"),
            (
                changed(HISTORY + 4, &f64::NAN.to_le_bytes()),
                "the value of 1010110011 is NaN, which is not finite",
            ),
            (changed(CHAIN, &[2]), "its chain is broken"),
            (changed(CHAIN + 1, &[4]), "its chain is broken"),
            (changed(CHAIN + 5, &(-1.0f64).to_le_bytes()), "its chain is broken"),
            (changed(CHAIN + 13, &f64::INFINITY.to_le_bytes()), "its chain is broken"),
            (shorter, "it is damaged or cut off"),
            (longer, "it is too long"),
            (NAME.to_vec(), "it is cut off"),
            (Vec::new(), "it starts otherwise"),
            (br#"{"horseshoe":1,"terms":55}"#.to_vec(), "it starts otherwise"),
        ];
        for (state, why) in refusals {
            let mut other = surrogate(10);
            let error = other.restore(&state).unwrap_err().to_string();
            assert_eq!(error, format!("not a state of this surrogate: {why}"));
            assert_eq!((other.observations.count(), other.last), (0, None));
        }
    }

    #[test]
    fn a_state_of_other_groups_is_refused() {
        let layout = Layout::with_groups(10, vec![0..3, 4..6]).unwrap();
        let mut other = Horseshoe::new(Options::default(), &layout).unwrap();
        let error = other.restore(&state()).unwrap_err().to_string();
        assert!(error.ends_with("the bits 1010110011 are not in the layout"), "{error}");
    }

    /// Whatever the bytes, a surrogate takes them or refuses them; then it draws, or says why not.
    fn survives(bytes: &[u8]) {
        let mut other = surrogate(10);
        if other.restore(bytes).is_ok() {
            let saved = other.save().unwrap().unwrap();
            assert_eq!(saved, bytes, "it took what it does not save");
        }
        other.observe(&"1111100000".parse().unwrap(), &1.0.into()).unwrap();
        let _ = other.draw(&DrawRequest::new(1));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

        #[test]
        fn torn_and_damaged_states_are_refused(length in 0..600usize, at in 0..600usize, bit in 0..8u32) {
            let whole = state();
            if length < whole.len() {
                prop_assert!(surrogate(10).restore(&whole[..length]).is_err());
            }
            let mut flipped = whole.clone();
            flipped[at % whole.len()] ^= 1 << bit;
            prop_assert!(surrogate(10).restore(&flipped).is_err());
        }

        #[test]
        fn absurd_states_with_a_right_checksum_are_survived(
            changes in prop::collection::vec((NAME.len()..600usize, any::<u8>()), 1..6),
            cut in prop::option::of(0..600usize),
            more in prop::collection::vec(any::<u8>(), 0..20),
        ) {
            let mut bytes = state();
            bytes.truncate(bytes.len() - 8);
            for (at, byte) in changes {
                let at = at % bytes.len();
                bytes[at] = byte;
            }
            if let Some(cut) = cut {
                bytes.truncate(cut);
            }
            bytes.extend(more);
            seal(&mut bytes);
            survives(&bytes);
        }

        #[test]
        fn random_bytes_are_survived(random in prop::collection::vec(any::<u8>(), 0..200)) {
            survives(&random);
            let mut named = [NAME, &VERSION.to_le_bytes(), &random].concat();
            seal(&mut named);
            survives(&named);
        }
    }

    #[test]
    fn infeasible_points_are_saved_as_that() {
        let mut one = surrogate(10);
        one.observe(&"1111100000".parse().unwrap(), &1.0.into()).unwrap();
        one.observe(&"1111100001".parse().unwrap(), &plugin_api::Evaluation::infeasible("it burns")).unwrap();
        let mut other = surrogate(10);
        other.restore(&one.save().unwrap().unwrap()).unwrap();
        assert_eq!(other.observations.history(), [(0, Some(1.0)), (1, None)]);
    }
}
