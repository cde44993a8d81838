//! Draws by weight in constant time: the alias method (Walker, ACM TOMS 3(3), 1977; tables as in Vose, IEEE TSE 17(9),
//! 1991), in whole numbers throughout.

use golden::draw;

/// What the weights of `n` entries are scaled to is `n` times this: one column of the table.
const COLUMN: u64 = 1 << 32;

/// What the heaviest weight is scaled to before it becomes a whole number: 2^52.
const TWO_52: f64 = 4_503_599_627_370_496.0;

/// Entries to draw by weight.
pub(super) struct Alias {
    columns: Vec<Column>,
}

/// One entry's place in the table: it is drawn with chance `own` / 2^32 there, and `alias` otherwise.
#[derive(Clone, Copy)]
struct Column {
    own: u32,
    alias: u32,
}

impl Alias {
    /// A table of `weights`, fewer than 2^32, positive and finite, of which that of `heaviest` is the largest. Each is
    /// rounded down to a multiple of 1 / 2^32 of the mean weight, and what is left over by that is `heaviest`'s.
    pub(super) fn new(weights: &[f64], heaviest: u32) -> Self {
        let entries = 0..weights.len() as u32;
        let unit = TWO_52 / weights[heaviest as usize];
        #[expect(clippy::cast_sign_loss, reason = "weights are positive")]
        let whole = || weights.iter().map(|weight| (weight * unit) as u128);
        let (total, all) = (whole().sum::<u128>(), weights.len() as u64 * COLUMN);
        let mut left: Vec<u64> = whole().map(|weight| (weight * u128::from(all) / total) as u64).collect();
        left[heaviest as usize] += all - left.iter().sum::<u64>();

        // A column that nobody has to fill up is full of its own entry.
        let mut columns: Vec<_> = entries.clone().map(|entry| Column { own: 0, alias: entry }).collect();
        let (mut light, mut heavy): (Vec<u32>, Vec<u32>) = entries.partition(|&entry| left[entry as usize] < COLUMN);
        while let Some(entry) = light.pop() {
            let donor = *heavy.last().expect("the columns together are as large as the weights");
            let own = left[entry as usize];
            columns[entry as usize] = Column { own: own as u32, alias: donor };
            let rest = &mut left[donor as usize];
            *rest -= COLUMN - own;
            if *rest < COLUMN {
                heavy.pop();
                light.push(donor);
            }
        }
        Self { columns }
    }

    /// An entry, each by its weight.
    pub(super) fn draw(&self, mut next_word: impl FnMut() -> u32) -> u32 {
        let entry = draw(self.columns.len() as u32, &mut next_word);
        let column = self.columns[entry as usize];
        if next_word() < column.own { entry } else { column.alias }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The exact weight of each entry, in units of 1 / 2^32 of a column.
    fn weights_of(alias: &Alias) -> Vec<u64> {
        let mut weights = vec![0; alias.columns.len()];
        for (entry, column) in alias.columns.iter().enumerate() {
            weights[entry] += u64::from(column.own);
            weights[column.alias as usize] += COLUMN - u64::from(column.own);
        }
        weights
    }

    #[test]
    fn a_table_has_the_weights_it_was_made_of() {
        let alias = Alias::new(&[1.0, 8.0, 0.5, 0.5, 6.0], 1);
        let unit = 5 * COLUMN / 16;
        assert_eq!(weights_of(&alias), [unit, 8 * unit, unit / 2, unit / 2, 6 * unit]);
    }

    #[test]
    fn rounding_goes_to_the_heaviest() {
        let alias = Alias::new(&[1.0, 1.0, 1.5], 2);
        let weights = weights_of(&alias);
        assert_eq!(weights.iter().sum::<u64>(), 3 * COLUMN);
        assert_eq!(weights[0], weights[1]);
    }

    #[test]
    fn equal_weights_are_uniform() {
        assert_eq!(weights_of(&Alias::new(&[2.0; 7], 0)), [COLUMN; 7]);
    }
}
