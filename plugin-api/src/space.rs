//! The variables of an objective, and one choice for each of them.

use std::collections::BTreeSet;
use std::ops::{Deref, DerefMut};

use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::{Constraint, Error, Literal, Result, Rng};

/// One variable: a name, and the names of its levels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variable {
    name: String,
    levels: Vec<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    ordered: bool,
}

impl Variable {
    /// A variable with the levels `0` and `1`.
    pub fn binary(name: impl Into<String>) -> Self {
        Self::categorical(name, ["0", "1"])
    }

    /// A variable with named levels.
    pub fn categorical<L: Into<String>>(
        name: impl Into<String>,
        levels: impl IntoIterator<Item = L>,
    ) -> Self {
        Self { name: name.into(), levels: levels.into_iter().map(Into::into).collect(), ordered: false }
    }

    /// A variable whose levels stand in an order: neighbours are more alike than others. A model may know what to do
    /// with that.
    pub fn ordered<L: Into<String>>(name: impl Into<String>, levels: impl IntoIterator<Item = L>) -> Self {
        Self { ordered: true, ..Self::categorical(name, levels) }
    }

    /// What people call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What people call its levels; a [`Point`] counts them from 0.
    pub fn levels(&self) -> &[String] {
        &self.levels
    }

    /// Whether its levels stand in an order.
    pub fn is_ordered(&self) -> bool {
        self.ordered
    }
}

/// The variables of an objective, at least one, each with a name of its own and its levels, of which a single one leaves
/// nothing to choose; and the [constraints](Constraint) that its points keep to.
///
/// ```
/// use plugin_api::{Point, Space, Variable};
///
/// let space = Space::new(vec![
///     Variable::binary("heated"),
///     Variable::categorical("solvent", ["water", "ethanol", "hexane"]),
/// ])?;
/// let point = Point::from(vec![1, 2]);
/// space.check(&point)?;
/// assert_eq!(space.describe(&point), "heated=1 solvent=hexane");
/// # Ok::<(), plugin_api::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "UncheckedSpace")]
pub struct Space {
    variables: Vec<Variable>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    constraints: Vec<Constraint>,
}

/// A space as it is written.
#[derive(Deserialize)]
struct UncheckedSpace {
    variables: Vec<Variable>,
    #[serde(default)]
    constraints: Vec<Constraint>,
}

impl TryFrom<UncheckedSpace> for Space {
    type Error = Error;
    fn try_from(space: UncheckedSpace) -> Result<Self> {
        Self::new(space.variables)?.with_constraints(space.constraints)
    }
}

impl Space {
    /// A space of these variables.
    pub fn new(variables: Vec<Variable>) -> Result<Self> {
        if variables.is_empty() {
            return Err(Error::new("a space needs at least one variable"));
        }
        let mut names = BTreeSet::new();
        for variable in &variables {
            if variable.levels.is_empty() {
                return Err(Error::new(format!("variable `{}` needs at least one level", variable.name)));
            }
            if !names.insert(&variable.name) {
                return Err(Error::new(format!("two variables are named `{}`", variable.name)));
            }
        }
        Ok(Self { variables, constraints: Vec::new() })
    }

    /// A space of `n` binary variables `x1` … `xn`.
    ///
    /// # Panics
    /// Where `n` is 0.
    pub fn binary(n: usize) -> Self {
        assert!(n > 0, "a space needs at least one variable");
        let variables = (1..=n).map(|i| Variable::binary(format!("x{i}"))).collect();
        Self { variables, constraints: Vec::new() }
    }

    /// The same variables with these constraints. Refuses a variable or level out of range, and a constraint that no
    /// point can keep to.
    pub fn with_constraints(mut self, constraints: Vec<Constraint>) -> Result<Self> {
        let levels = |index: usize| self.variables[index].levels.len();
        constraints.iter().try_for_each(|constraint| constraint.check(self.dimension(), levels))?;
        self.constraints = constraints;
        Ok(self)
    }

    /// The variables, in the order of a point's levels.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// How many variables there are.
    pub fn dimension(&self) -> usize {
        self.variables.len()
    }

    /// What points keep to besides the levels of their variables.
    pub fn constraints(&self) -> &[Constraint] {
        &self.constraints
    }

    /// Whether `point` has a level for each variable, and keeps to the constraints.
    pub fn admits(&self, point: &Point) -> bool {
        self.check(point).is_ok() && self.constraints.iter().all(|rule| rule.holds(|index| point[index]))
    }

    /// Whether every variable has two levels.
    pub fn is_binary(&self) -> bool {
        self.variables.iter().all(|variable| variable.levels.len() == 2)
    }

    /// Refuses a point that has too many or too few levels, or one out of range; constraints are for
    /// [`admits`](Self::admits).
    pub fn check(&self, point: &Point) -> Result<()> {
        if point.len() != self.dimension() {
            let (found, expected) = (point.len(), self.dimension());
            return Err(Error::new(format!(
                "a point with {found} levels in a space of {expected} variables"
            )));
        }
        for (variable, &level) in self.variables.iter().zip(point.iter()) {
            if level as usize >= variable.levels.len() {
                let (name, last) = (&variable.name, variable.levels.len() - 1);
                return Err(Error::new(format!(
                    "level {level} of variable `{name}`, which has the levels 0 to {last}"
                )));
            }
        }
        Ok(())
    }

    /// A point chosen uniformly among all levels. It does not look at the constraints.
    pub fn random_point(&self, rng: &mut Rng) -> Point {
        let level = |variable: &Variable| rng.random_range(0..variable.levels.len() as u32);
        Point(self.variables.iter().map(level).collect())
    }

    /// The point in the objective's own words: `heated=1 solvent=hexane`.
    pub fn describe(&self, point: &Point) -> String {
        let word = |(variable, &level): (&Variable, &u32)| match variable.levels.get(level as usize) {
            Some(name) => format!("{}={name}", variable.name),
            None => format!("{}={level}", variable.name),
        };
        self.variables.iter().zip(point.iter()).map(word).collect::<Vec<_>>().join(" ")
    }

    /// One of the constraints in the objective's own words: `at most 1 of heated=1, solvent=hexane`.
    pub fn describe_constraint(&self, constraint: &Constraint) -> String {
        let words = |literal: Literal| {
            let named = self.variables.get(literal.index).and_then(|variable| {
                Some(format!("{}={}", variable.name, variable.levels.get(literal.level as usize)?))
            });
            named.unwrap_or_else(|| literal.to_string())
        };
        constraint.describe(words)
    }
}

/// One level for each variable of a [`Space`], counted from 0.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Point(Vec<u32>);

impl Point {
    /// The levels as they are.
    pub(crate) fn into_vec(self) -> Vec<u32> {
        self.0
    }

    /// Takes other levels into the same room.
    pub(crate) fn copy_from(&mut self, levels: &[u32]) {
        self.0.clear();
        self.0.extend_from_slice(levels);
    }
}

impl From<Vec<u32>> for Point {
    fn from(levels: Vec<u32>) -> Self {
        Self(levels)
    }
}

impl FromIterator<u32> for Point {
    fn from_iter<I: IntoIterator<Item = u32>>(levels: I) -> Self {
        Self(levels.into_iter().collect())
    }
}

impl Deref for Point {
    type Target = [u32];
    fn deref(&self) -> &[u32] {
        &self.0
    }
}

impl DerefMut for Point {
    fn deref_mut(&mut self) -> &mut [u32] {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_space_refuses_what_a_point_could_not_use() {
        assert!(Space::new(vec![]).is_err());
        assert!(Space::new(vec![Variable::categorical("a", [""; 0])]).is_err());
        assert!(Space::new(vec![Variable::binary("a"), Variable::binary("a")]).is_err());
    }

    #[test]
    fn a_variable_with_one_level_always_has_it() {
        let only = Variable::categorical("oven", ["electric"]);
        let space = Space::new(vec![Variable::binary("heated"), only]).unwrap();
        let point = space.random_point(&mut crate::rng(1));
        assert!(space.admits(&point) && point[1] == 0 && !space.is_binary());
        assert!(space.check(&Point::from(vec![0, 1])).is_err());
    }

    #[test]
    fn a_wrong_point_is_named() {
        let space = Space::binary(2);
        let error = |levels: Vec<u32>| space.check(&Point::from(levels)).unwrap_err().to_string();
        assert_eq!(error(vec![1]), "a point with 1 levels in a space of 2 variables");
        assert_eq!(error(vec![0, 2]), "level 2 of variable `x2`, which has the levels 0 to 1");
    }

    #[test]
    fn random_points_reach_every_level() {
        let space = Space::new(vec![Variable::categorical("a", ["x", "y", "z"])]).unwrap();
        let mut rng = crate::rng(1);
        let seen: BTreeSet<u32> = (0..100).map(|_| space.random_point(&mut rng)[0]).collect();
        assert_eq!(seen.len(), 3);
    }

    #[test]
    fn a_space_survives_json() {
        let space = Space::new(vec![Variable::categorical("a", ["x", "y", "z"])]).unwrap();
        let never = Constraint::Forbidden(vec![Literal::new(0, 2)]);
        for space in [space.clone(), space.with_constraints(vec![never]).unwrap()] {
            let text = serde_json::to_string(&space).unwrap();
            assert_eq!(serde_json::from_str::<Space>(&text).unwrap(), space);
        }
        assert!(serde_json::from_str::<Space>(r#"{ "variables": [] }"#).is_err());
    }

    #[test]
    fn ordered_levels_survive_json_and_older_json_has_none() {
        let dose = Variable::ordered("dose", ["low", "middle", "high"]);
        let text = serde_json::to_string(&dose).unwrap();
        assert_eq!(serde_json::from_str::<Variable>(&text).unwrap(), dose);
        assert!(dose.is_ordered());
        let plain = Variable::categorical("dose", ["low", "middle", "high"]);
        let text = serde_json::to_string(&plain).unwrap();
        assert_eq!(text, r#"{"name":"dose","levels":["low","middle","high"]}"#);
        assert!(!serde_json::from_str::<Variable>(&text).unwrap().is_ordered());
    }

    #[test]
    fn a_space_admits_the_points_that_keep_its_constraints() {
        let space =
            Space::new(vec![Variable::binary("heated"), Variable::categorical("solvent", ["x", "y", "z"])]);
        let rule = Constraint::Forbidden(vec![Literal::new(0, 1), Literal::new(1, 2)]);
        let space = space.unwrap().with_constraints(vec![rule.clone()]).unwrap();
        let admits = |levels: [u32; 2]| space.admits(&Point::from(levels.to_vec()));
        assert!(admits([1, 1]) && admits([0, 2]) && !admits([1, 2]) && !admits([0, 3]));
        assert_eq!(space.describe_constraint(&rule), "never all of heated=1, solvent=z");
        assert!(Space::binary(2).with_constraints(vec![rule]).is_err());
    }
}
