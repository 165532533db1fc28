//! How much one class may become in memory. A crafted class repeats one long name in every call and annotation, and would
//! become many thousand times its size.

/// What each piece takes beside its texts.
const PIECE: usize = 96;
/// Bytes in memory for each byte of the class; real classes stay below a third of it.
const TIMES: usize = 64;

/// What is left of it.
#[derive(Debug)]
pub(super) struct Room {
    left: usize,
    pub(super) is_used_up: bool,
}

impl Room {
    /// For a class file of `bytes`.
    pub(super) const fn of(bytes: usize) -> Self {
        Self { left: bytes.saturating_mul(TIMES), is_used_up: false }
    }

    /// Takes the place of a piece with these texts, when there is any.
    pub(super) fn take(&mut self, texts: &[&str]) -> Option<()> {
        let size = texts.iter().fold(PIECE, |sum, text| sum.saturating_add(text.len()));
        match self.left.checked_sub(size) {
            Some(left) if !self.is_used_up => self.left = left,
            _ => self.is_used_up = true,
        }
        (!self.is_used_up).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::Room;

    #[test]
    fn a_class_becomes_no_more_than_a_multiple_of_its_size() {
        let mut room = Room::of(10);
        assert!(room.take(&["a"; 100]).is_some());
        assert!(room.take(&[&"a".repeat(400)]).is_none() && room.is_used_up);
        // What comes later is left out too, even when it would fit: a list with holes tells nothing.
        assert!(room.take(&[]).is_none());
    }
}
