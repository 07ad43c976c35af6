//! Inputs made from good ones: bits turned over, pieces put in, taken out, doubled and exchanged.

use plugin_api::Rng;
use plugin_api::rand::RngExt;

use super::pieces::PIECES;

/// One of the corpus, changed in up to eight places.
pub(crate) fn mutated(corpus: &[Vec<u8>], random: &mut Rng) -> Vec<u8> {
    let mut bytes = corpus[random.random_range(0..corpus.len())].clone();
    for _ in 0..random.random_range(1..=8) {
        change(&mut bytes, corpus, random);
    }
    bytes
}

fn change(bytes: &mut Vec<u8>, corpus: &[Vec<u8>], random: &mut Rng) {
    let place = random.random_range(0..=bytes.len());
    let end = (place + random.random_range(0..16)).min(bytes.len());
    match random.random_range(0..9) {
        0 if !bytes.is_empty() => {
            let place = place.min(bytes.len() - 1);
            bytes[place] ^= 1 << random.random_range(0..8);
        }
        1 => drop(bytes.splice(place..end, [random.random()])),
        2 => drop(bytes.drain(place..end)),
        3 => bytes.truncate(place),
        4 => {
            let piece = bytes[place..end].to_vec();
            let at = random.random_range(0..=bytes.len());
            drop(bytes.splice(at..at, piece));
        }
        5 => {
            // The beginning of this one with the end of another.
            let other = &corpus[random.random_range(0..corpus.len())];
            let from = random.random_range(0..=other.len());
            bytes.truncate(place);
            bytes.extend(&other[from..]);
        }
        6 => {
            // The same again and again: nesting, long lines, long numbers.
            let piece = bytes[place..end].to_vec();
            let times = 1_usize << random.random_range(0..10);
            drop(bytes.splice(place..place, piece.repeat(times)));
        }
        _ => {
            let piece = PIECES[random.random_range(0..PIECES.len())];
            drop(bytes.splice(place..end, piece.bytes()));
        }
    }
}
