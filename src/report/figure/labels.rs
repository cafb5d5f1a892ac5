//! Puts labels beside points so that none lies upon a mark, a line or another label.

/// Rectangles that are taken, in pixels.
#[derive(Debug, Clone)]
pub(super) struct Labels {
    /// Marks, lines and labels.
    taken: Vec<Box2>,
    /// Labels alone: lines to a label may pass a mark, but no other label.
    written: Vec<Box2>,
    /// Thin lines that a label may lie upon where there is no better place near.
    thin: Vec<Box2>,
    /// No label leaves this.
    bounds: Box2,
    /// Height of letters.
    em: i32,
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

    /// The point of it that is nearest to a point.
    fn nearest(&self, at: (i32, i32)) -> (i32, i32) {
        (at.0.clamp(self.left, self.right), at.1.clamp(self.top, self.bottom))
    }
}

/// Where a label was placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Placed {
    /// Its left upper corner.
    pub(super) corner: (i32, i32),
    /// From the rim of the mark to the label, where it lies far off.
    pub(super) leader: Option<[(i32, i32); 2]>,
}

impl Labels {
    /// Labels of letters this high stay between two ranges of pixels.
    pub(super) const fn within(
        x: &std::ops::Range<i32>,
        y: &std::ops::Range<i32>,
        em: i32,
    ) -> Self {
        let bounds = Box2 { left: x.start, top: y.start, right: x.end, bottom: y.end };
        Self { taken: Vec::new(), written: Vec::new(), thin: Vec::new(), bounds, em }
    }

    /// Keeps a square around a point free.
    pub(super) fn avoid(&mut self, at: (i32, i32), radius: i32) {
        self.taken.push(Box2::at((at.0 - radius, at.1 - radius), (2 * radius, 2 * radius)));
    }

    /// Keeps a line free.
    pub(super) fn avoid_line(&mut self, from: (i32, i32), to: (i32, i32)) {
        for at in along(from, to, self.em / 2) {
            self.avoid(at, self.em / 6);
        }
    }

    /// Keeps a thin line free as long as there is room elsewhere.
    pub(super) fn avoid_thin(&mut self, from: (i32, i32), to: (i32, i32)) {
        let points = along(from, to, self.em / 2);
        self.thin.extend(points.map(|at| Box2::at(at, (1, 1))));
    }

    fn is_free(&self, place: &Box2) -> bool {
        self.bounds.holds(place) && self.taken.iter().all(|taken| !taken.meets(place))
    }

    fn is_clear(&self, place: &Box2) -> bool {
        self.thin.iter().all(|thin| !thin.meets(place))
    }

    fn take(&mut self, place: Box2) -> (i32, i32) {
        self.taken.push(place);
        self.written.push(place);
        (place.left, place.top)
    }

    /// Takes the first of these corners with room for a label of this size.
    pub(super) fn first(
        &mut self,
        corners: impl IntoIterator<Item = (i32, i32)>,
        size: (i32, i32),
    ) -> Option<(i32, i32)> {
        let places = corners.into_iter().map(|corner| Box2::at(corner, size));
        let free: Vec<Box2> = places.filter(|place| self.is_free(place)).collect();
        let place = free.iter().find(|place| self.is_clear(place)).or(free.first())?;
        Some(self.take(*place))
    }

    /// A place for a label of this size beside a mark; none where all around is taken.
    pub(super) fn beside(
        &mut self,
        at: (i32, i32),
        radius: i32,
        size: (i32, i32),
    ) -> Option<Placed> {
        let (width, height) = size;
        let middle = (-width / 2, -height / 2);
        for far in 0..7 {
            let gap = radius + self.em / 4 + far * (height + self.em / 4);
            let slanted = gap * 7 / 10;
            let corners = [
                (gap, middle.1),
                (-gap - width, middle.1),
                (slanted, -slanted - height),
                (slanted, slanted),
                (-slanted - width, -slanted - height),
                (-slanted - width, slanted),
                (middle.0, -gap - height),
                (middle.0, gap),
            ];
            let places = corners.map(|(x, y)| Box2::at((at.0 + x, at.1 + y), size));
            let free = places.iter().filter(|place| self.is_free(place));
            let reached = free.filter(|place| {
                let leader = self.leader(at, radius, place);
                leader.is_none_or(|[from, to]| self.is_open(from, to))
            });
            let reached: Vec<&Box2> = reached.collect();
            let found = reached.iter().find(|place| self.is_clear(place)).or(reached.first());
            if let Some(place) = found.map(|place| **place) {
                let leader = self.leader(at, radius, &place);
                let corner = self.take(place);
                if let Some([from, to]) = leader {
                    self.avoid_line(from, to);
                }
                return Some(Placed { corner, leader });
            }
        }
        None
    }

    /// Whether a line crosses no label.
    fn is_open(&self, from: (i32, i32), to: (i32, i32)) -> bool {
        along(from, to, self.em / 2).all(|at| {
            let at = Box2::at(at, (1, 1));
            self.written.iter().all(|label| !label.meets(&at))
        })
    }

    /// A line from the rim of a mark to a label that lies far off.
    fn leader(&self, at: (i32, i32), radius: i32, place: &Box2) -> Option<[(i32, i32); 2]> {
        let nearest = place.nearest(at);
        let away = (f64::from(nearest.0 - at.0), f64::from(nearest.1 - at.1));
        let far = away.0.hypot(away.1);
        let reach = f64::from(radius + self.em);
        if far <= reach {
            return None;
        }
        let rim = f64::from(radius) / far;
        let rim = (at.0 + (away.0 * rim) as i32, at.1 + (away.1 * rim) as i32);
        Some([rim, nearest])
    }

    /// Heights for labels in a column, moved apart as little as is needed; in the order given.
    pub(super) fn stacked(wanted: &[i32], height: i32, range: &std::ops::Range<i32>) -> Vec<i32> {
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

/// Points along a line, this far apart at most.
fn along(from: (i32, i32), to: (i32, i32), step: i32) -> impl Iterator<Item = (i32, i32)> {
    let steps = ((to.0 - from.0).abs().max((to.1 - from.1).abs()) / step.max(1)).max(1);
    let at = move |from: i32, to: i32, step: i32| from + (to - from) * step / steps;
    (0..=steps).map(move |step| (at(from.0, to.0, step), at(from.1, to.1, step)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_points_at_one_place_do_not_overlap() {
        let mut labels = Labels::within(&(0..400), &(0..300), 12);
        labels.avoid((200, 150), 4);
        let mut places = Vec::new();
        for _ in 0..12 {
            places.extend(labels.beside((200, 150), 4, (60, 12)));
        }
        assert!(places.len() >= 4, "{places:?}");
        let mark = Box2::at((196, 146), (8, 8));
        for (position, one) in places.iter().enumerate() {
            let place = Box2::at(one.corner, (60, 12));
            assert!(!place.meets(&mark), "{one:?}");
            for two in &places[..position] {
                assert!(!place.meets(&Box2::at(two.corner, (60, 12))));
            }
        }
        assert_eq!(labels.beside((200, 150), 4, (500, 12)), None);
    }

    #[test]
    fn a_column_keeps_its_order_and_its_ends() {
        let placed = Labels::stacked(&[50, 52, 10, 99], 12, &(0..100));
        assert_eq!(placed[2], 10);
        assert!(placed[1] - placed[0] >= 12 && placed[3] == 88);
    }
}
