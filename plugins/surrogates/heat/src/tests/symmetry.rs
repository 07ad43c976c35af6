//! What must not matter.

use super::*;

const OPTIONS: [&str; 7] = [
    "{}",
    r#"{ "kernel": "overlap" }"#,
    r#"{ "lengthscales": "common" }"#,
    r#"{ "values": "copula", "spread": 0.5 }"#,
    r#"{ "values": "auto" }"#,
    r#"{ "acquisition": "bound" }"#,
    r#"{ "values": "vizier", "lengthscales": "common" }"#,
];

/// Every point that the layout admits.
fn all_points(layout: &Layout) -> Vec<Bits> {
    let n = layout.dimension();
    let points = (0..1_u32 << n).map(|mask| (0..n).map(|i| mask >> i & 1 == 1).collect::<Bits>());
    points.filter(|x| layout.admits(x)).collect()
}

/// The values of three draws in a row at all points, and the best point not seen yet, under other names of the points.
fn drawn(options: &str, layout: &Layout, renamed: &dyn Fn(&Bits) -> Bits) -> (Vec<f64>, Vec<Bits>) {
    let (mut original, mut heat) = (heat(options, layout), heat(options, layout));
    let (mut seen, values) = observe(&mut original, 25, 5);
    seen.iter().zip(&values).for_each(|(x, y)| heat.observe(&renamed(x), &(*y).into()).unwrap());
    let (all, mut found, mut best) = (all_points(layout), Vec::new(), Vec::new());
    for iteration in 0..3 {
        let drawn = heat.draw(&DrawRequest::new(iteration)).unwrap();
        let values: Vec<f64> = all.iter().map(|x| drawn.value(&renamed(x))).collect();
        let unseen = (0..all.len()).filter(|&i| !seen.contains(&all[i]));
        let least = &all[unseen.min_by(|&i, &j| values[i].total_cmp(&values[j])).unwrap()];
        heat.observe(&renamed(least), &(10.0 + least.count_ones() as f64).into()).unwrap();
        seen.push(least.clone());
        best.push(least.clone());
        found.extend(values);
    }
    (found, best)
}

#[test]
fn bits_turned_over_everywhere_change_no_digit_of_a_draw() {
    let layout = Layout::free(9);
    for options in OPTIONS {
        let original = drawn(options, &layout, &Bits::clone);
        for turn in [vec![3], vec![0, 1, 8], (0..9).collect()] {
            let turned = |x: &Bits| {
                let mut x = x.clone();
                turn.iter().for_each(|&i: &usize| x.flip(i));
                x
            };
            let found = drawn(options, &layout, &turned);
            assert!(found.0.iter().zip(&original.0).all(|(a, b)| a.to_bits() == b.to_bits()), "{options}");
            assert_eq!(found.1, original.1);
        }
    }
}

#[test]
fn other_names_of_levels_change_nothing_of_a_draw_but_names() {
    let layout = Layout::with_groups(11, vec![1..5, 6..9]).unwrap().with_ordered_groups(vec![1]).unwrap();
    // Level i of the group becomes another; an ordered group may be read from its end.
    let renamed = |x: &Bits| {
        let mut y = x.clone();
        for (from, to) in [(1, 3), (2, 1), (3, 4), (4, 2), (6, 8), (8, 6)] {
            y[to] = x[from];
        }
        y
    };
    for options in OPTIONS {
        let (original, found) = (drawn(options, &layout, &Bits::clone), drawn(options, &layout, &renamed));
        for (a, b) in original.0.iter().zip(&found.0) {
            // Factors are multiplied in another order. Of a variance at a point seen, few digits are right.
            assert!((a - b).abs() < 1e-3 * (1.0 + a.abs()) || a.max(*b) > 1e3, "{options}: {a} and {b}");
        }
        let close = original.0.iter().zip(&found.0).filter(|(a, b)| (*a - *b).abs() < 1e-7 * (1.0 + a.abs()));
        assert!(close.count() * 10 > 8 * original.0.len(), "{options}");
        assert_eq!(found.1, original.1, "{options}");
    }
}

#[test]
fn every_instruction_set_gives_the_same_draws_and_states() {
    let layout = Layout::with_groups(21, vec![2..5, 9..16]).unwrap().with_ordered_groups(vec![1]).unwrap();
    let run = |kernel: Kernel, options: &str| {
        let mut heat = heat(options, &layout);
        heat.kernel = kernel;
        observe(&mut heat, 30, 11);
        let mut rng = rng(12);
        let mut bits = Vec::new();
        for seed in 0..6 {
            let mut pending = BitMatrix::new(21);
            (0..seed % 3).for_each(|_| pending.push(&layout.random(&mut rng)));
            let request = DrawRequest::new(seed).with_penalty(Penalty::l1(0.1)).with_pending(pending);
            let drawn = heat.draw(&request).unwrap();
            let points: Vec<Bits> = (0..20).map(|_| layout.random(&mut rng)).collect();
            let mut values = vec![0.0; 20];
            drawn.values(matrix(&points, 21).view(), &mut values);
            let mut gains = plugin_api::ndarray::Array2::zeros((20, 21));
            drawn.move_gains(matrix(&points, 21).view(), layout.groups(), gains.view_mut());
            bits.extend(values.iter().chain(&gains).map(|value| value.to_bits()));
            let best = (0..20).min_by(|&i, &j| values[i].total_cmp(&values[j])).unwrap();
            heat.observe(&points[best], &(values[best].abs() + 1.0).into()).unwrap();
        }
        (bits, heat.save().unwrap())
    };
    let sampled = r#"{ "hyperparameters": "sampled" }"#;
    let dictionary = r#"{ "kernel": "dictionary", "dictionary-size": 30 }"#;
    let thompson = r#"{ "acquisition": "thompson" }"#;
    for options in
        [r#"{ "values": "auto" }"#, r#"{ "lengthscales": "common" }"#, sampled, dictionary, thompson]
    {
        let [fastest, others @ ..] = &Kernel::available()[..] else { panic!("no instructions") };
        let expected = run(*fastest, options);
        others.iter().for_each(|other| assert_eq!(run(*other, options), expected, "{}", other.name()));
    }
}
