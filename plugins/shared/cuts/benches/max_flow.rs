//! Our maximum flow beside petgraph's on the same networks: `cargo bench -p shared-cuts --bench max_flow`.
//!
//! The networks are first cuts of functions with heavy tails, as the horseshoe draws them: every pair of bits is an
//! arc one way or a part of the terminals. Both build nothing while the clock runs.

use divan::Bencher;
use petgraph::algo::maximum_flow::{dinics, ford_fulkerson};
use petgraph::graph::{DiGraph, NodeIndex};
use plugin_api::random::normal;
use plugin_api::rng;
use shared_cuts::Network;

fn main() {
    divan::main();
}

const SIZES: [usize; 6] = [25, 50, 100, 200, 500, 1000];

/// Capacities between the nodes and terminals, with all parameters of the relaxation ½.
fn network(n: usize) -> (Vec<f64>, Vec<f64>) {
    let mut rng = rng(n as u64);
    let mut draw = || normal(&mut rng) * (normal(&mut rng) / normal(&mut rng)).clamp(-100.0, 100.0);
    let (mut capacities, mut terminals) = (vec![0.0; n * n], vec![0.0; n]);
    for i in 0..n {
        terminals[i] += draw();
        for j in i + 1..n {
            let a: f64 = draw();
            if a < 0.0 {
                // a xᵢxⱼ = a xⱼ − a (1 − xᵢ) xⱼ.
                capacities[i * n + j] = -a;
                terminals[j] += a;
            } else {
                terminals[i] += a / 2.0;
                terminals[j] += a / 2.0;
            }
        }
    }
    (capacities, terminals)
}

#[divan::bench(args = SIZES, min_time = 0.2)]
fn ours(bencher: Bencher, n: usize) {
    let (capacities, terminals) = network(n);
    bencher
        .with_inputs(|| {
            let mut network = Network::new(n, capacities.clone());
            network.set_terminals(&terminals);
            network
        })
        .bench_local_refs(|network| {
            network.maximize_flow();
            network.minimum()
        });
}

#[divan::bench(args = SIZES, sample_count = 5, sample_size = 1)]
fn petgraph_dinics(bencher: Bencher, n: usize) {
    let (graph, source, sink, most) = digraph(n);
    check(n, dinics(&graph, source, sink).0, most);
    bencher.bench_local(|| dinics(&graph, source, sink).0);
}

// Ford-Fulkerson takes minutes from 500 nodes on.
#[divan::bench(args = &SIZES[..4], sample_count = 5, sample_size = 1)]
fn petgraph_ford_fulkerson(bencher: Bencher, n: usize) {
    let (graph, source, sink, most) = digraph(n);
    check(n, ford_fulkerson(&graph, source, sink).0, most);
    bencher.bench_local(|| ford_fulkerson(&graph, source, sink).0);
}

/// The same network for petgraph, and the most that could reach its sink.
fn digraph(n: usize) -> (DiGraph<(), f64>, NodeIndex, NodeIndex, f64) {
    let (capacities, terminals) = network(n);
    let mut graph = DiGraph::new();
    let nodes: Vec<NodeIndex> = (0..n).map(|_| graph.add_node(())).collect();
    let (source, sink) = (graph.add_node(()), graph.add_node(()));
    for i in 0..n {
        let terminal = terminals[i];
        if terminal > 0.0 {
            graph.add_edge(source, nodes[i], terminal);
        } else if terminal < 0.0 {
            graph.add_edge(nodes[i], sink, -terminal);
        }
        for j in (0..n).filter(|&j| capacities[i * n + j] > 0.0) {
            graph.add_edge(nodes[i], nodes[j], capacities[i * n + j]);
        }
    }
    // min F = flow − Σ max(−tᵢ, 0).
    (graph, source, sink, terminals.iter().map(|t| (-t).max(0.0)).sum())
}

/// A fast wrong answer is no reference, whosever it is. What reaches the sink at most is the scale.
fn check(n: usize, flow: f64, most: f64) {
    let (capacities, terminals) = network(n);
    let mut network = Network::new(n, capacities);
    network.set_terminals(&terminals);
    network.maximize_flow();
    let ours = most + network.minimum();
    assert!((ours - flow).abs() <= 1e-9 * most, "flows of {ours} and {flow}");
}
