//! Exact fractions, so that no rounding of a decimal decides how large a graph is.

use std::{fmt, str::FromStr};

/// A fraction in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Ratio {
    pub(super) numerator: u64,
    pub(super) denominator: u64,
}

impl Ratio {
    /// `value` times this fraction, to the nearest whole number, halves up.
    pub(super) fn of(self, value: u64) -> u64 {
        let (n, d) = (u128::from(self.numerator), u128::from(self.denominator));
        ((u128::from(value) * n + d / 2) / d) as u64
    }
}

impl FromStr for Ratio {
    type Err = ();

    /// Reads "1/16", "0.25" or "1", with at most nine digits on each side.
    fn from_str(text: &str) -> Result<Self, ()> {
        let digits = |part: &str| match part.len() {
            1..=9 if part.bytes().all(|byte| byte.is_ascii_digit()) => part.parse::<u64>().map_err(|_| ()),
            _ => Err(()),
        };
        let (numerator, denominator) = if let Some((numerator, denominator)) = text.split_once('/') {
            (digits(numerator)?, digits(denominator)?)
        } else if let Some((whole, decimals)) = text.split_once('.') {
            let denominator = 10u64.pow(decimals.len().min(9) as u32);
            (digits(whole)? * denominator + digits(decimals)?, denominator)
        } else {
            (digits(text)?, 1)
        };
        match common_divisor(numerator, denominator) {
            _ if denominator == 0 => Err(()),
            divisor => Ok(Self { numerator: numerator / divisor, denominator: denominator / divisor }),
        }
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.denominator {
            1 => self.numerator.fmt(f),
            denominator => write!(f, "{}/{denominator}", self.numerator),
        }
    }
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_exact() {
        for (text, shown) in [("1/16", "1/16"), ("0.25", "1/4"), ("4/64", "1/16"), ("1", "1"), ("2.30", "23/10")] {
            assert_eq!(text.parse::<Ratio>().unwrap().to_string(), shown);
        }
        for bad in ["", "1/", "/2", "1/0", ".5", "-1/2", "1e3", "0.1234567890", "+1", "1/2/3"] {
            assert_eq!(bad.parse::<Ratio>(), Err(()), "{bad}");
        }
        let sixteenth: Ratio = "1/16".parse().unwrap();
        assert_eq!((sixteenth.of(24), sixteenth.of(23)), (2, 1));
    }
}
