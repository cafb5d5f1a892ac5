//! Options of a prediction: pipe, engine, launch.

use std::str::FromStr;

use super::error::PredictError;
use super::number;
use crate::model::{Engine, Pipe};

/// Options of a prediction; by default the format decides.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Pipe that executes the main operations, whatever their format.
    pub pipe: Option<Pipe>,
    /// Engine for products: matrix or vector units.
    pub engine: Option<Engine>,
    /// The launch, if known: too few or too small blocks make latency the limiter.
    pub grid: Option<Grid>,
}

/// A launch's grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    /// Number of blocks.
    pub blocks: u64,
    /// Threads per block.
    pub threads: u64,
}

/// Most threads of a block, on all GPUs.
pub(super) const MOST_THREADS: u64 = 1024;

impl FromStr for Grid {
    type Err = PredictError;

    /// Parses blocks and threads per block: `128x256`.
    fn from_str(text: &str) -> Result<Self, PredictError> {
        let refused =
            || PredictError::value("launch", text, "write BLOCKSxTHREADS, such as 128x256");
        let (blocks, threads) = text.split_once(['x', '×']).ok_or_else(refused)?;
        let read = |part: &str| number::whole(part.trim(), &|_| None).ok().filter(|part| *part > 0);
        match (read(blocks), read(threads)) {
            (Some(_), Some(threads)) if threads > MOST_THREADS => {
                let help = format!("a block has at most {MOST_THREADS} threads");
                Err(PredictError::value("launch", text, help))
            }
            (Some(blocks), Some(threads)) => Ok(Self { blocks, threads }),
            _ => Err(refused()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_is_written_as_blocks_by_threads() {
        assert_eq!("128x256".parse::<Grid>().unwrap(), Grid { blocks: 128, threads: 256 });
        assert_eq!("64Ki×1k".parse::<Grid>().unwrap(), Grid { blocks: 65_536, threads: 1000 });
        let error = "1x1025".parse::<Grid>().unwrap_err().to_string();
        assert!(error.ends_with("a block has at most 1024 threads"), "{error}");
        for text in ["", "128", "x128", "0x128", "128x"] {
            let error = text.parse::<Grid>().unwrap_err().to_string();
            assert!(error.ends_with("write BLOCKSxTHREADS, such as 128x256"), "{error}");
        }
    }
}
