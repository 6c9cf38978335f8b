//! Checks of parameters.

use std::ops::RangeInclusive;

/// An error line if `value` is not in `range` (NaN never is).
pub(super) fn check(field: &str, value: f64, range: RangeInclusive<f64>) -> Result<(), String> {
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
