plugin_api::options! {
    /// Nothing: the space says it all.
    pub(crate) struct Options {}
}
