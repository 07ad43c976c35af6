//! What a plugin logs arrives at the host.

use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};

use plugin_api::serde_json::json;
use plugin_api::tracing::field::{Field, Visit};
use plugin_api::tracing::level_filters::LevelFilter;
use plugin_api::tracing::{self, Event, Level, Subscriber};
use plugin_api::{Benchmark, Point};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

use crate::plugin;

/// An event as the host's subscriber sees it: level, target, fields, and the spans around it.
type Heard = (Level, String, String, Vec<&'static str>);

/// What is logged on this thread, up to `level`, during `call`.
pub(crate) fn heard_during(level: Level, call: impl FnOnce()) -> Vec<Heard> {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let layer = Listener(heard.clone()).with_filter(LevelFilter::from_level(level));
    tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), call);
    std::mem::take(&mut heard.lock().expect("no panic while listening"))
}

struct Listener(Arc<Mutex<Vec<Heard>>>);

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Listener {
    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields(String::new());
        event.record(&mut fields);
        let spans = context.event_scope(event).into_iter().flatten().map(|span| span.name()).collect();
        let metadata = event.metadata();
        let heard = (*metadata.level(), metadata.target().to_owned(), fields.0, spans);
        self.0.lock().expect("no panic while listening").push(heard);
    }
}

struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, "{}: {value:?}. ", field.name()).expect("writing to a string does not fail");
    }
}

#[test]
fn events_arrive_with_level_message_and_fields_within_the_spans_of_the_host() {
    // Made before anybody listens.
    let mut benchmark = plugin("benchmark").benchmark(&json!({ "logs": true }), 0).unwrap();
    let heard = heard_during(Level::TRACE, || {
        let _trial = tracing::info_span!("trial").entered();
        let _iteration = tracing::info_span!("iteration", number = 3).entered();
        benchmark.evaluate(&Point::from(vec![1, 2]), 3).unwrap();
    });
    let line = |level: Level, words: &str| {
        let fields = format!("message: {words}. plugin: \"fixture_benchmark\". ");
        (level, "plugin".to_owned(), fields, vec!["iteration", "trial"])
    };
    let expected = [
        line(Level::ERROR, "nothing left of \"it\""),
        line(Level::WARN, "mind the gap seed=3 word=two words point=Point([1, 2])"),
        line(Level::INFO, "seed=3"),
        line(Level::DEBUG, "small print"),
        line(Level::TRACE, "smaller print"),
    ];
    assert_eq!(heard, expected);
}

#[test]
fn a_host_hears_no_more_than_it_listens_to() {
    let mut benchmark = plugin("benchmark").benchmark(&json!({ "logs": true }), 0).unwrap();
    let heard = heard_during(Level::WARN, || {
        benchmark.evaluate(&Point::from(vec![1, 2]), 3).unwrap();
    });
    let levels: Vec<Level> = heard.iter().map(|(level, ..)| *level).collect();
    assert_eq!(levels, [Level::ERROR, Level::WARN]);
}
