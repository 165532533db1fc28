//! A QR code as numbers for an SVG drawing: made here, so that no link goes to anybody who draws it.

use std::fmt::Write as _;

use qrcodegen::{QrCode, QrCodeEcc};

/// Light modules around the code, as its standard asks for.
const QUIET: i32 = 4;

/// A drawing of square modules.
pub(in crate::gateway) struct Qr {
    /// Width and height in modules.
    pub(in crate::gateway) size: i32,
    /// The dark modules as a path.
    pub(in crate::gateway) path: String,
}

impl Qr {
    /// The code of a text; none when it is too long for one.
    pub(in crate::gateway) fn of(text: &str) -> Option<Self> {
        let code = QrCode::encode_text(text, QrCodeEcc::Medium).ok()?;
        let mut path = String::new();
        for y in 0..code.size() {
            let mut x = 0;
            while x < code.size() {
                let run = (x..code.size()).take_while(|x| code.get_module(*x, y)).count();
                let run = i32::try_from(run).unwrap_or(0);
                if run > 0 {
                    let _ = write!(path, "M{} {}h{run}v1h-{run}z", x + QUIET, y + QUIET);
                }
                x += run.max(1);
            }
        }
        Some(Self { size: code.size() + 2 * QUIET, path })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_fits_and_every_dark_module_is_drawn_once() {
        let link = "https://portal.acme.example/s/Zx81_abcdefghijklmnopqrs";
        let qr = Qr::of(link).unwrap();
        let code = QrCode::encode_text(link, QrCodeEcc::Medium).unwrap();
        assert_eq!(qr.size, code.size() + 8);
        let dark = (0..code.size()).flat_map(|y| (0..code.size()).map(move |x| (x, y))).filter(|(x, y)| code.get_module(*x, *y));
        let drawn: i32 =
            qr.path.split('h').skip(1).step_by(2).map(|run| run.split('v').next().unwrap().parse::<i32>().unwrap()).sum();
        assert_eq!(drawn, i32::try_from(dark.count()).unwrap());
        assert!(Qr::of(&"x".repeat(5000)).is_none());
    }
}
