//! 32-bit sequence numbers as positions in a stream of any length.

/// Turns the sequence numbers of one direction of a connection into 64-bit positions.
///
/// A number is read as the position nearest to the largest one so far (RFC 9293, section 3.4: the
/// window is far smaller than half of the number space).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sequence {
    /// The sequence number of position zero.
    zero: u32,
    /// The largest position so far.
    largest: u64,
}

impl Sequence {
    /// The first byte of the stream has the number `zero`.
    pub fn new(zero: u32) -> Sequence {
        Sequence { zero, largest: 0 }
    }

    /// The position that `number` means; one before the start of the stream is zero.
    pub fn position(&mut self, number: u32) -> u64 {
        let low = number.wrapping_sub(self.zero);
        let step = low.wrapping_sub(self.largest as u32) as i32;
        let at = self.largest.saturating_add_signed(i64::from(step));
        self.largest = self.largest.max(at);
        at
    }

    /// The sequence number of a position.
    pub const fn number(&self, position: u64) -> u32 {
        self.zero.wrapping_add(position as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_go_on_where_numbers_wrap() {
        let mut s = Sequence::new(u32::MAX - 99);
        assert_eq!(s.position(u32::MAX - 99), 0);
        assert_eq!(s.position(u32::MAX), 99);
        assert_eq!(s.position(0), 100);
        assert_eq!(s.position(u32::MAX - 49), 50, "an old one");
        assert_eq!(s.position(u32::MAX - 199), 0, "before the start");
        let mut at = 0;
        for _ in 0..100 {
            at += 1 << 30;
            assert_eq!(s.position((at as u32).wrapping_add(u32::MAX - 99)), at);
            assert_eq!(s.position(s.number(at)), at);
        }
    }
}
