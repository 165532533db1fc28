//! How a tenant looks: an accent colour made readable on light and dark pages (WCAG 2.2 contrast, 1.4.3).

/// A colour as 8-bit red, green, blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) struct Colour(u8, u8, u8);

const WHITE: Colour = Colour(255, 255, 255);
const BLACK: Colour = Colour(13, 23, 34);
/// The lightest and darkest surfaces text stands on in the stylesheet.
const LIGHT_PAGE: Colour = Colour(240, 242, 245);
const DARK_PAGE: Colour = Colour(33, 43, 55);
const READABLE: f64 = 4.8;

impl Colour {
    /// Reads `#rrggbb`.
    pub(in crate::gateway) fn parse(text: &str) -> Option<Self> {
        let is_digits = |digits: &&str| digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        let digits = text.strip_prefix('#').filter(is_digits)?;
        let part = |from: usize| u8::from_str_radix(digits.get(from..from + 2)?, 16).ok();
        Some(Self(part(0)?, part(2)?, part(4)?))
    }

    fn css(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }

    fn luminance(self) -> f64 {
        let linear = |channel: u8| {
            let value = f64::from(channel) / 255.0;
            if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(self.0) + 0.7152 * linear(self.1) + 0.0722 * linear(self.2)
    }

    fn contrast(self, other: Self) -> f64 {
        let (a, b) = (self.luminance(), other.luminance());
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    fn toward(self, other: Self) -> Self {
        let step = |from: u8, to: u8| {
            let moved = i16::from(from) + (i16::from(to) - i16::from(from)) / 12 + (i16::from(to) - i16::from(from)).signum();
            u8::try_from(moved.clamp(0, 255)).unwrap_or(to)
        };
        Self(step(self.0, other.0), step(self.1, other.1), step(self.2, other.2))
    }

    /// The nearest mix with `end` that reads well on `page`.
    fn readable_on(self, page: Self, end: Self) -> Self {
        let mut colour = self;
        for _ in 0..64 {
            if colour.contrast(page) >= READABLE {
                break;
            }
            colour = colour.toward(end);
        }
        colour
    }
}

/// The tenant's stylesheet: custom properties for light and dark pages.
pub(in crate::gateway) fn stylesheet(accent: Colour) -> String {
    let light = accent.readable_on(LIGHT_PAGE, BLACK);
    let dark = accent.readable_on(DARK_PAGE, WHITE);
    let ink = |on: Colour| if on.contrast(WHITE) >= on.contrast(BLACK) { WHITE } else { BLACK };
    format!(
        ":root{{--brand:{0};--brand-ink:{1};--brand-text:{0}}}\n@media (prefers-color-scheme:dark){{:root{{--brand:{2};--brand-ink:{3};--brand-text:{2}}}}}\n",
        light.css(),
        ink(light).css(),
        dark.css(),
        ink(dark).css(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_accent_becomes_readable_on_light_and_dark_pages() {
        for accent in ["#ffffff", "#000000", "#ffff00", "#0b5c57", "#5b2a86", "#808080", "#ff0000", "#00ff00"] {
            let accent = Colour::parse(accent).unwrap();
            assert!(accent.readable_on(LIGHT_PAGE, BLACK).contrast(LIGHT_PAGE) >= 4.5, "{accent:?}");
            assert!(accent.readable_on(DARK_PAGE, WHITE).contrast(DARK_PAGE) >= 4.5, "{accent:?}");
        }
    }

    #[test]
    fn only_six_digit_colours_are_read() {
        for bad in ["", "#", "#fff", "red", "#12345g", "#1234567", "123456", "#é1234", "#+1+2+3", "# 1 2 3"] {
            assert_eq!(Colour::parse(bad), None, "{bad}");
        }
        assert_eq!(Colour::parse("#0b5c57"), Some(Colour(0x0b, 0x5c, 0x57)));
    }
}
