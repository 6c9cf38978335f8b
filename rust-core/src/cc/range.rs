//! Checks of parameters.

use std::ops::RangeInclusive;

/// An error line if `value` is not in `range` (NaN never is).
pub(crate) fn check(field: &str, value: f64, range: RangeInclusive<f64>) -> Result<(), String> {
    if range.contains(&value) {
        Ok(())
    } else {
        Err(format!(
            "{field}: {value} is not in {}..{}",
            range.start(),
            range.end()
        ))
    }
}

/// Checks a first window in packets: zero, which is the transport's, or 2 to 10000.
pub(super) fn check_initial_window(packets: f64) -> Result<(), String> {
    if packets == 0.0 {
        return Ok(());
    }
    check("initial_window_packets", packets, 2.0..=10_000.0)
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn one_line_with_field_value_and_range() {
        assert_eq!(check("delta", 0.5, 0.001..=10.0), Ok(()));
        assert_eq!(check("delta", 10.0, 0.001..=10.0), Ok(()));
        assert_eq!(
            check("delta", 11.0, 0.001..=10.0),
            Err("delta: 11 is not in 0.001..10".into())
        );
        assert!(check("delta", f64::NAN, 0.0..=1.0).is_err());
    }
}
