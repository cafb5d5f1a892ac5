//! Puts labels beside points so that none lies upon another.

/// Rectangles that are taken, in pixels.
#[derive(Debug, Clone)]
pub(super) struct Labels {
    taken: Vec<Box2>,
    /// No label leaves this.
    bounds: Box2,
}

#[derive(Debug, Clone, Copy)]
struct Box2 {
    left: i32,
    top: i32,
    right: i32,
    bottom: i32,
}

impl Box2 {
    const fn at(corner: (i32, i32), size: (i32, i32)) -> Self {
        Self { left: corner.0, top: corner.1, right: corner.0 + size.0, bottom: corner.1 + size.1 }
    }

    const fn meets(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    const fn holds(&self, other: &Self) -> bool {
        self.left <= other.left
            && self.top <= other.top
            && self.right >= other.right
            && self.bottom >= other.bottom
    }
}

impl Labels {
    /// Labels stay between two ranges of pixels.
    pub(super) fn within(x: std::ops::Range<i32>, y: std::ops::Range<i32>) -> Self {
        let bounds = Box2 { left: x.start, top: y.start, right: x.end, bottom: y.end };
        Self { taken: Vec::new(), bounds }
    }

    /// Keeps a square around a point free.
    pub(super) fn avoid(&mut self, at: (i32, i32), radius: i32) {
        self.taken.push(Box2::at((at.0 - radius, at.1 - radius), (2 * radius, 2 * radius)));
    }

    /// Keeps a rectangle free.
    pub(super) fn take(&mut self, corner: (i32, i32), size: (i32, i32)) {
        self.taken.push(Box2::at(corner, size));
    }

    /// Keeps a line free.
    pub(super) fn avoid_line(&mut self, from: (i32, i32), to: (i32, i32)) {
        const STEP: i32 = 6;
        let steps = ((to.0 - from.0).abs().max((to.1 - from.1).abs()) / STEP).max(1);
        for step in 0..=steps {
            let along = |from: i32, to: i32| from + (to - from) * step / steps;
            self.avoid((along(from.0, to.0), along(from.1, to.1)), 2);
        }
    }

    /// The left upper corner of a label of this size beside a point; none where all is taken.
    pub(super) fn beside(
        &mut self,
        at: (i32, i32),
        radius: i32,
        size: (i32, i32),
    ) -> Option<(i32, i32)> {
        let (width, height) = size;
        let gap = radius + 3;
        let middle = (-width / 2, -height / 2);
        for far in 0..8 {
            let gap = gap + far * (height + 2);
            let places = [
                (gap, -gap / 2 - height / 2),
                (gap, middle.1),
                (gap, gap / 2),
                (middle.0, -gap - height),
                (middle.0, gap),
                (-gap - width, -gap / 2 - height / 2),
                (-gap - width, middle.1),
                (-gap - width, gap / 2),
            ];
            for (x, y) in places {
                let place = Box2::at((at.0 + x, at.1 + y), size);
                let free = self.taken.iter().all(|taken| !taken.meets(&place));
                if free && self.bounds.holds(&place) {
                    self.taken.push(place);
                    return Some((place.left, place.top));
                }
            }
        }
        None
    }

    /// The left upper corner of a label right of an upright line, as low as there is room.
    pub(super) fn right_of(&mut self, foot: (i32, i32), size: (i32, i32)) -> Option<(i32, i32)> {
        let heights = (0..12).map(|step| foot.1 - (step + 1) * (size.1 + 3));
        let places = heights.map(|top| Box2::at((foot.0 + 4, top), size));
        for place in places {
            if self.bounds.holds(&place) && self.taken.iter().all(|taken| !taken.meets(&place)) {
                self.taken.push(place);
                return Some((place.left, place.top));
            }
        }
        None
    }

    /// Heights for labels in a column, moved apart as little as is needed; in the order given.
    pub(super) fn stacked(wanted: &[i32], height: i32, range: std::ops::Range<i32>) -> Vec<i32> {
        let mut order: Vec<usize> = (0..wanted.len()).collect();
        order.sort_by_key(|position| wanted[*position]);
        let mut placed = vec![0; wanted.len()];
        let mut next = range.start;
        for position in &order {
            placed[*position] = wanted[*position].max(next);
            next = placed[*position] + height;
        }
        let mut limit = range.end;
        for position in order.iter().rev() {
            placed[*position] = placed[*position].min(limit - height);
            limit = placed[*position];
        }
        placed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_points_at_one_place_do_not_overlap() {
        let mut labels = Labels::within(0..400, 0..300);
        let mut places = Vec::new();
        for _ in 0..12 {
            places.extend(labels.beside((200, 150), 4, (60, 12)));
        }
        assert!(places.len() >= 8, "{places:?}");
        for (position, one) in places.iter().enumerate() {
            for two in &places[..position] {
                assert!(!Box2::at(*one, (60, 12)).meets(&Box2::at(*two, (60, 12))));
            }
        }
        assert_eq!(labels.beside((200, 150), 4, (500, 12)), None);
    }

    #[test]
    fn a_column_keeps_its_order_and_its_ends() {
        let placed = Labels::stacked(&[50, 52, 10, 99], 12, 0..100);
        assert_eq!(placed[2], 10);
        assert!(placed[1] - placed[0] >= 12 && placed[3] == 88);
    }
}
