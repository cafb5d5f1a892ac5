//! Columns whose values are often all equal.

/// A column that takes no room while all its values are equal. Of what identifies a launch most is: one process, one
/// stream, no operators.
#[derive(Debug, Clone, Default)]
pub(super) struct Uniform<T> {
    /// The value of the first row.
    first: T,
    /// Empty while all are equal.
    values: Vec<T>,
}

impl<T: Copy + PartialEq> Uniform<T> {
    /// Returns the value of a row.
    pub(super) fn get(&self, row: usize) -> T {
        self.values.get(row).copied().unwrap_or(self.first)
    }

    /// Returns whether all values are this one; several that became equal count as different.
    pub(super) fn are_all(&self, value: T) -> bool {
        self.values.is_empty() && self.first == value
    }

    /// Appends a value; there are `row` values before it.
    pub(super) fn push(&mut self, row: usize, value: T) {
        if row == 0 {
            self.first = value;
        } else if !self.values.is_empty() || value != self.first {
            self.spread(row);
            self.values.push(value);
        }
    }

    /// Replaces the value of one of so many rows.
    pub(super) fn set(&mut self, row: usize, rows: usize, value: T) {
        if self.get(row) != value {
            self.spread(rows);
            self.values[row] = value;
        }
    }

    /// Appends so many values of another column, changed; there are `before` values before them.
    pub(super) fn append(
        &mut self,
        before: usize,
        other: &Self,
        rows: usize,
        change: impl Fn(T) -> T,
    ) {
        let first = change(other.first);
        if before == 0 {
            self.first = first;
        }
        if self.values.is_empty() && other.values.is_empty() && first == self.first {
            return;
        }
        self.spread(before);
        if other.values.is_empty() {
            self.values.resize(before + rows, first);
        } else {
            self.values.extend(other.values.iter().map(|value| change(*value)));
        }
    }

    /// Leaves only the values of these rows, in their order.
    pub(super) fn pick(&mut self, rows: &[usize]) {
        self.first = rows.first().map_or(self.first, |row| self.get(*row));
        if !self.values.is_empty() {
            self.values = rows.iter().map(|row| self.values[*row]).collect();
        }
    }

    /// Makes room for a value of its own in each of so many rows.
    fn spread(&mut self, rows: usize) {
        if self.values.is_empty() {
            self.values.resize(rows, self.first);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn column(values: &[u8]) -> Uniform<u8> {
        let mut column = Uniform::default();
        values.iter().enumerate().for_each(|(row, value)| column.push(row, *value));
        column
    }

    fn values(column: &Uniform<u8>, rows: usize) -> Vec<u8> {
        (0..rows).map(|row| column.get(row)).collect()
    }

    proptest! {
        #[test]
        fn a_column_has_the_values_that_it_was_given(
            one in prop::collection::vec(0_u8..2, 0..6),
            two in prop::collection::vec(0_u8..2, 1..6),
            more in 0_u8..2,
            at in 0_usize..12,
            kept in prop::collection::vec(any::<bool>(), 12),
        ) {
            let mut column = column(&one);
            prop_assert_eq!(values(&column, one.len()), one.clone());
            column.append(one.len(), &self::column(&two), two.len(), |value| value ^ 1);
            let mut all = one;
            all.extend(two.iter().map(|value| value ^ 1));
            prop_assert_eq!(values(&column, all.len()), all.clone());
            let at = at % all.len();
            column.set(at, all.len(), more);
            all[at] = more;
            prop_assert_eq!(values(&column, all.len()), all.clone());
            let rows: Vec<usize> = (0..all.len()).filter(|row| kept[*row]).collect();
            column.pick(&rows);
            all = rows.into_iter().map(|row| all[row]).collect();
            column.push(all.len(), more);
            all.push(more);
            prop_assert_eq!(values(&column, all.len()), all);
        }
    }

    #[test]
    fn equal_values_take_no_room() {
        let mut all = column(&[7; 100]);
        assert!(all.values.is_empty());
        all.append(100, &column(&[6; 100]), 100, |value| value + 1);
        assert!(all.values.is_empty());
        all.push(200, 8);
        assert_eq!(all.values.len(), 201);
    }
}
