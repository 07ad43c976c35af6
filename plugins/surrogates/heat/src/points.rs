//! Points as the kernel reads them, and the variables that their bits belong to.

use std::sync::Arc;

use plugin_api::Layout;
use plugin_api::ndarray::ArrayView2;

use crate::dictionary::Dictionary;
use crate::kernel::WIDTH;
use crate::path::Path;

/// Which variable each bit belongs to, and with which part of its θ.
#[derive(Clone, Debug)]
pub(crate) struct Variables {
    pub(crate) of_bit: Vec<usize>,
    pub(crate) share: Vec<f64>,
    paths: Arc<[Path]>,
    count: usize,
    dictionary: Option<Arc<Dictionary>>,
}

impl Variables {
    pub(crate) fn new(layout: &Layout) -> Self {
        let bits = layout.dimension();
        let (mut of_bit, mut share, mut count) = (Vec::with_capacity(bits), vec![1.0; bits], 0);
        let mut paths = Vec::new();
        let mut groups = layout.groups().iter().enumerate().peekable();
        while of_bit.len() < bits {
            match groups.next_if(|(_, group)| group.start == of_bit.len()) {
                Some((place, group)) => {
                    let is_path = layout.ordered_groups().contains(&place);
                    share[group.clone()].fill(if is_path { 0.0 } else { 0.5 });
                    paths.extend(is_path.then(|| Path::new(count, group.clone())));
                    of_bit.resize(group.end, count);
                }
                None => of_bit.push(count),
            }
            count += 1;
        }
        Self { of_bit, share, paths: paths.into(), count, dictionary: None }
    }

    /// The same, where points are compared by their distances to those of a dictionary, which are the variables then.
    pub(crate) fn with_dictionary(self, dictionary: Dictionary) -> Self {
        Self { dictionary: Some(Arc::new(dictionary)), ..self }
    }

    pub(crate) fn dictionary(&self) -> Option<&Dictionary> {
        self.dictionary.as_deref()
    }

    pub(crate) fn bits(&self) -> usize {
        self.of_bit.len()
    }

    pub(crate) fn paths(&self) -> &[Path] {
        &self.paths
    }

    /// How many variables have a θ.
    pub(crate) fn count(&self) -> usize {
        self.dictionary().map_or(self.count, Dictionary::len)
    }
}

/// Points, packed eight bits to the byte, a row each, and again [`WIDTH`] points at a time.
#[derive(Clone, Debug)]
pub(crate) struct Packed {
    bytes: Vec<u8>,
    /// For each [`WIDTH`] points, of each byte those of all of them.
    blocks: Vec<[u8; WIDTH]>,
    /// For each path the level of each point, and room up to a multiple of [`WIDTH`].
    levels: Vec<Vec<u32>>,
    paths: Arc<[Path]>,
    /// With a dictionary: for each point its features, and again [`WIDTH`] points at a time.
    features: Vec<f64>,
    feature_blocks: Vec<[f64; WIDTH]>,
    dictionary: Option<Arc<Dictionary>>,
    width: usize,
    count: usize,
}

impl Packed {
    pub(crate) fn new(variables: &Variables) -> Self {
        let (paths, width) = (variables.paths.clone(), variables.bits().div_ceil(8));
        Self {
            bytes: Vec::new(),
            blocks: Vec::new(),
            levels: vec![Vec::new(); paths.len()],
            paths,
            features: Vec::new(),
            feature_blocks: Vec::new(),
            dictionary: variables.dictionary.clone(),
            width,
            count: 0,
        }
    }

    pub(crate) fn push(&mut self, bits: &[bool]) {
        debug_assert_eq!(bits.len().div_ceil(8), self.width);
        let first = self.bytes.len();
        self.bytes.resize(first + self.width, 0);
        for (i, bit) in bits.iter().enumerate() {
            self.bytes[first + i / 8] |= u8::from(*bit) << (i % 8);
        }
        let column = self.count % WIDTH;
        if column == 0 {
            self.blocks.resize(self.blocks.len() + self.width, [0; WIDTH]);
        }
        let block = self.blocks.len() - self.width;
        for (block, byte) in self.blocks[block..].iter_mut().zip(&self.bytes[first..]) {
            block[column] = *byte;
        }
        for (levels, path) in self.levels.iter_mut().zip(self.paths.iter()) {
            levels.resize((self.count + 1).next_multiple_of(WIDTH), 0);
            levels[self.count] = path.level(bits) as u32;
        }
        if let Some(dictionary) = &self.dictionary {
            let features = dictionary.features(&self.bytes[first..]);
            if column == 0 {
                self.feature_blocks.resize(self.feature_blocks.len() + features.len(), [0.0; WIDTH]);
            }
            let block = self.feature_blocks.len() - features.len();
            let blocks = self.feature_blocks[block..].iter_mut().zip(&features);
            blocks.for_each(|(block, feature)| block[column] = *feature);
            self.features.extend(features);
        }
        self.count += 1;
    }

    /// Takes each row.
    pub(crate) fn extend(&mut self, points: ArrayView2<'_, bool>) {
        let points = points.as_standard_layout();
        points.rows().into_iter().for_each(|row| self.push(row.to_slice().expect("rows in order")));
    }

    pub(crate) fn len(&self) -> usize {
        self.count
    }

    pub(crate) fn row(&self, i: usize) -> &[u8] {
        &self.bytes[i * self.width..][..self.width]
    }

    /// The points from `first` on, which is a multiple of [`WIDTH`]; of those that are missing, no bit is set.
    pub(crate) fn block(&self, first: usize) -> &[[u8; WIDTH]] {
        &self.blocks[first / WIDTH * self.width..][..self.width]
    }

    /// The level of each point on a path.
    pub(crate) fn levels(&self, path: usize) -> &[u32] {
        &self.levels[path]
    }

    /// The features of point `i`, where there is a dictionary.
    pub(crate) fn features(&self, i: usize) -> &[f64] {
        let width = self.features.len() / self.count.max(1);
        &self.features[i * width..][..width]
    }

    /// The features of the points from `first` on, which is a multiple of [`WIDTH`].
    pub(crate) fn feature_block(&self, first: usize) -> &[[f64; WIDTH]] {
        let width = self.features.len() / self.count.max(1);
        &self.feature_blocks[first / WIDTH * width..][..width]
    }

    pub(crate) fn bit(&self, row: usize, i: usize) -> bool {
        self.bytes[row * self.width + i / 8] >> (i % 8) & 1 == 1
    }
}

/// Bits as spins, ±1, a column each: [`WIDTH`] of them, from `first` on.
pub(crate) fn spins(points: &Packed, first: usize, size: usize, spins: &mut Vec<[f64; WIDTH]>) {
    spins.clear();
    let spin = |byte: u8, w: usize| if byte >> w & 1 == 1 { 1.0 } else { -1.0 };
    spins.extend((0..points.len()).map(|i| {
        let byte = points.row(i)[first / 8];
        std::array::from_fn(|w| spin(byte, w))
    }));
    spins.resize(size, [0.0; WIDTH]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_spins() {
        let mut points = Packed::new(&Variables::new(&Layout::free(11)));
        points.push(&"10000000001".bytes().map(|b| b == b'1').collect::<Vec<_>>());
        points.push(&"01000000000".bytes().map(|b| b == b'1').collect::<Vec<_>>());
        let mut columns = Vec::new();
        spins(&points, 8, 8, &mut columns);
        assert_eq!(
            (columns.len(), columns[0][..3].to_vec(), columns[2]),
            (8, vec![-1.0, -1.0, 1.0], [0.0; 8])
        );
        spins(&points, 0, 8, &mut columns);
        assert_eq!((columns[0][0], columns[0][1], columns[1][0], columns[1][1]), (1.0, -1.0, -1.0, 1.0));
    }
}
