//! The colours: those of Okabe and Ito, which most colour-blind people tell apart, and their like for dark paper.

use super::scene::Colour;

/// How many series have a colour of their own; more differ by dashes and markers.
pub(crate) const SERIES: usize = 7;
/// How many phases a trial has.
pub(crate) const PHASES: usize = 4;

const LIGHT_SERIES: [u32; SERIES] = [0x0072B2, 0xD55E00, 0x009E73, 0xCC79A7, 0xB57A00, 0x2E9BD6, 0x555555];
const DARK_SERIES: [u32; SERIES] = [0x5AB4F0, 0xFF8A3D, 0x2FCFA0, 0xE8A0C8, 0xF0B429, 0x9AD5FF, 0xC0C0C0];
const LIGHT_PHASES: [u32; PHASES] = [0x56B4E9, 0xE69F00, 0x8C6BB1, 0xC4C4C4];
const DARK_PHASES: [u32; PHASES] = [0x4A9CCB, 0xD09020, 0xA38BC4, 0x6E6E6E];

/// The colour as red, green, blue.
pub(crate) fn rgb(colour: Colour, dark: bool) -> u32 {
    match (colour, dark) {
        (Colour::Ink, false) => 0x1F2328,
        (Colour::Ink, true) => 0xE8EAED,
        (Colour::Muted, false) => 0x5F6670,
        (Colour::Muted, true) => 0xA3A9B3,
        (Colour::Grid, false) => 0xE3E6EA,
        (Colour::Grid, true) => 0x32373F,
        (Colour::Paper, false) => 0xFFFFFF,
        (Colour::Paper, true) => 0x16191E,
        (Colour::Series(i), false) => LIGHT_SERIES[i % SERIES],
        (Colour::Series(i), true) => DARK_SERIES[i % SERIES],
        (Colour::Phase(i), false) => LIGHT_PHASES[i % PHASES],
        (Colour::Phase(i), true) => DARK_PHASES[i % PHASES],
    }
}

pub(crate) fn all() -> impl Iterator<Item = Colour> {
    let plain = [Colour::Ink, Colour::Muted, Colour::Grid, Colour::Paper];
    plain.into_iter().chain((0..SERIES).map(Colour::Series)).chain((0..PHASES).map(Colour::Phase))
}

/// The colour's name in a style sheet.
pub(crate) fn name(colour: Colour) -> String {
    match colour {
        Colour::Ink => "ink".to_owned(),
        Colour::Muted => "muted".to_owned(),
        Colour::Grid => "grid".to_owned(),
        Colour::Paper => "paper".to_owned(),
        Colour::Series(i) => format!("k{}", i % SERIES),
        Colour::Phase(i) => format!("p{}", i % PHASES),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// WCAG's relative luminance.
    fn luminance(rgb: u32) -> f64 {
        let channel = |shift: u32| {
            let c = f64::from((rgb >> shift) & 255) / 255.0;
            if c <= 0.040_45 { c / 12.92 } else { libm::pow((c + 0.055) / 1.055, 2.4) }
        };
        0.2126 * channel(16) + 0.7152 * channel(8) + 0.0722 * channel(0)
    }

    fn contrast(a: u32, b: u32) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn words_and_lines_stand_out_from_the_paper() {
        for dark in [false, true] {
            let paper = rgb(Colour::Paper, dark);
            assert!(contrast(rgb(Colour::Ink, dark), paper) >= 7.0);
            assert!(contrast(rgb(Colour::Muted, dark), paper) >= 4.5);
            // WCAG 1.4.11 asks 3:1 of what must be seen to understand a figure.
            for series in 0..SERIES {
                let ratio = contrast(rgb(Colour::Series(series), dark), paper);
                assert!(ratio >= 2.9, "series {series}: {ratio}");
            }
        }
    }
}
