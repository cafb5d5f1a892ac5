//! Closed forms against loops that are literally run on small sizes.

mod attention;
mod layers;
mod movement;
mod products;
mod vectors;
