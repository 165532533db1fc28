//! Looks at the shape of a class before the parser does: the parser makes room for as many jumps as a switch says it has, and
//! follows code inside the attributes of code, without bound. A class of such a shape is refused; no compiler makes one.

use super::hidden::{Texts, u16_at};

/// What may lie where.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Method,
    /// A class, a field, or code: no code lies in these.
    Other,
}

struct Walk<'a> {
    class: &'a [u8],
    texts: &'a Texts,
    at: usize,
}

/// Whether the parser can be let at `class`; `None` when not.
pub(super) fn check(class: &[u8], texts: &Texts) -> Option<()> {
    let mut walk = Walk { class, texts, at: texts.end() };
    walk.skip(6)?;
    let interfaces = walk.u16()?;
    walk.skip(usize::from(interfaces) * 2)?;
    for place in [Place::Other, Place::Method] {
        for _ in 0..walk.u16()? {
            walk.skip(6)?;
            walk.attributes(place)?;
        }
    }
    walk.attributes(Place::Other)
}

impl Walk<'_> {
    fn skip(&mut self, bytes: usize) -> Option<()> {
        self.at = self.at.checked_add(bytes).filter(|at| *at <= self.class.len())?;
        Some(())
    }

    fn u16(&mut self) -> Option<u16> {
        let value = u16_at(self.class, self.at)?;
        self.at += 2;
        Some(value)
    }

    fn u32(&mut self) -> Option<usize> {
        let value = u32_at(self.class, self.at)?;
        self.at += 4;
        usize::try_from(value).ok()
    }

    fn attributes(&mut self, place: Place) -> Option<()> {
        for _ in 0..self.u16()? {
            let name = self.u16()?;
            let length = self.u32()?;
            let end = self.at.checked_add(length)?;
            if self.texts.get(self.class, name) == Some("Code") {
                if place != Place::Method {
                    return None;
                }
                self.code()?;
                if self.at != end {
                    return None;
                }
            } else {
                self.skip(length)?;
            }
        }
        Some(())
    }

    fn code(&mut self) -> Option<()> {
        self.skip(4)?;
        let length = self.u32()?;
        let start = self.at;
        self.skip(length)?;
        switches_fit(self.class.get(start..self.at)?)?;
        let handlers = self.u16()?;
        self.skip(usize::from(handlers) * 8)?;
        self.attributes(Place::Other)
    }
}

/// Whether every switch has its jumps within `code`. Instructions that nobody knows end the look: the parser ends there too.
fn switches_fit(code: &[u8]) -> Option<()> {
    let mut at = 0;
    while let Some(opcode) = code.get(at) {
        at += 1;
        at += match opcode {
            0x10 | 0x12 | 0x15..=0x19 | 0x36..=0x3a | 0xa9 | 0xbc => 1,
            0x11 | 0x13 | 0x14 | 0x84 | 0x99..=0xa8 | 0xb2..=0xb8 | 0xbb | 0xbd | 0xc0 | 0xc1 | 0xc6 | 0xc7 => 2,
            0xc5 => 3,
            0xb9 | 0xba | 0xc8 | 0xc9 => 4,
            0xc4 => {
                if code.get(at) == Some(&0x84) {
                    5
                } else {
                    3
                }
            }
            0xaa | 0xab => {
                // Beside the code's start, at the next multiple of four, behind the jump for all else.
                at = at.checked_next_multiple_of(4)? + 4;
                let first = i64::from(u32_at(code, at)?.cast_signed());
                let (jumps, before, size) = if *opcode == 0xaa {
                    (i64::from(u32_at(code, at + 4)?.cast_signed()) - first + 1, 8, 4)
                } else {
                    (first, 4, 8)
                };
                let jumps = usize::try_from(jumps).ok()?.checked_mul(size)?;
                let left = code.len().checked_sub(at + before)?;
                if jumps > left {
                    return None;
                }
                before + jumps
            }
            0xca.. => return Some(()),
            _ => 0,
        };
    }
    Some(())
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::switches_fit;

    fn switch(opcode: u8, numbers: &[i32]) -> Vec<u8> {
        // Three constants before it, so that no padding is needed.
        let mut code = vec![0x03, 0x03, 0x03, opcode];
        code.extend(numbers.iter().flat_map(|number| number.to_be_bytes()));
        code
    }

    #[test]
    fn a_switch_has_no_more_jumps_than_there_are() {
        let fits = |opcode, numbers: &[i32]| switches_fit(&switch(opcode, numbers)).is_some();
        assert!(fits(0xaa, &[0, 1, 2, 8, 8]) && fits(0xab, &[0, 1, 7, 8]) && fits(0xab, &[0, 0]));
        for (opcode, numbers) in [
            (0xaa, &[0, 1, 3, 8, 8][..]),
            (0xaa, &[0, i32::MIN, i32::MAX, 8]),
            (0xaa, &[0, 0, i32::MAX, 8]),
            (0xaa, &[0, 2, 0]),
            (0xaa, &[0, 1]),
            (0xab, &[0, i32::MAX]),
            (0xab, &[0, -1]),
            (0xab, &[0, 1, 7]),
            (0xab, &[0]),
        ] {
            assert!(!fits(opcode, numbers), "{opcode:x} {numbers:?}");
        }
    }

    #[test]
    fn instructions_of_all_lengths_are_passed_over() {
        // bipush, sipush, wide iinc, wide iload, invokeinterface, multianewarray, goto_w, then a switch that is too long.
        let mut code = vec![0x10, 1, 0x11, 1, 1, 0xc4, 0x84, 0, 1, 0, 1, 0xc4, 0x15, 0, 1, 0xb9, 0, 1, 1, 0, 0xc5, 0, 1, 1];
        code.extend([0xc8, 0, 0, 0, 0]);
        assert!(switches_fit(&code).is_some());
        code.resize(code.len().next_multiple_of(4) + 3, 0x03);
        code.extend(&switch(0xab, &[0, i32::MAX])[3..]);
        assert!(switches_fit(&code).is_none());
    }
}
