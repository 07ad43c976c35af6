//! A plugin's `tracing` events, brought to the host.
//!
//! Each dylib has globals of its own, so an event in a plugin would reach no subscriber. At loading, the
//! plugin installs a subscriber that calls back into the host, within whatever spans the host is in.

use std::fmt::{self, Write};

use abi_stable::StableAbi;
use abi_stable::std_types::RStr;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber};

/// Where a plugin's events go, and up to which level the host listens.
#[repr(C)]
#[derive(StableAbi, Clone, Copy)]
pub(crate) struct LogSink {
    /// 0 nothing, 1 errors, … 5 traces. Asked each time: the host may begin to listen after the loading.
    max_level: extern "C" fn() -> u8,
    /// Takes level, target and text of an event.
    send: extern "C" fn(u8, RStr<'_>, RStr<'_>),
}

impl LogSink {
    /// The sink that the host hands to a plugin.
    pub(crate) fn of_host() -> Self {
        Self { max_level, send: receive }
    }

    /// Makes this sink the plugin's subscriber; a second time changes nothing.
    pub(crate) fn install(self) {
        let _ = tracing::subscriber::set_global_default(Forward(self));
    }
}

extern "C" fn max_level() -> u8 {
    LevelFilter::current().into_level().as_ref().map_or(0, number)
}

extern "C" fn receive(level: u8, target: RStr<'_>, text: RStr<'_>) {
    let (plugin, text) = (target.as_str(), text.as_str());
    match level {
        1 => tracing::error!(target: "plugin", plugin, "{text}"),
        2 => tracing::warn!(target: "plugin", plugin, "{text}"),
        3 => tracing::info!(target: "plugin", plugin, "{text}"),
        4 => tracing::debug!(target: "plugin", plugin, "{text}"),
        _ => tracing::trace!(target: "plugin", plugin, "{text}"),
    }
}

/// The plugin's subscriber: events go to the host; its own spans are not followed.
struct Forward(LogSink);

impl Subscriber for Forward {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::sometimes()
    }
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        number(metadata.level()) <= (self.0.max_level)()
    }
    fn event(&self, event: &Event<'_>) {
        let mut text = Text::default();
        event.record(&mut text);
        let metadata = event.metadata();
        let line = format!("{}{}", text.message, text.fields);
        (self.0.send)(number(metadata.level()), metadata.target().into(), line.trim_start().into());
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

fn number(level: &Level) -> u8 {
    match *level {
        Level::ERROR => 1,
        Level::WARN => 2,
        Level::INFO => 3,
        Level::DEBUG => 4,
        Level::TRACE => 5,
    }
}

/// An event as one line: its message, then ` name=value` for each field.
#[derive(Default)]
struct Text {
    message: String,
    fields: String,
}

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let written = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
        written.expect("writing to a string does not fail");
    }
    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }
}
