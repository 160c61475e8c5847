package io.turbidite.feeds;

import io.turbidite.feeds.flow.RecordPolicy;
import io.turbidite.feeds.parse.RecordParser;

import org.jspecify.annotations.Nullable;

/**
 * What one parse worker works with, and no other one. <em>Confined to the worker's thread.</em>
 *
 * @param deletes reads the keys of records to be deleted; null if there are none such
 * @param aids of the transforms; null if they ask nothing beside the record
 * @param policy which may share its state with those of other workers
 */
record ParseTools(
        RecordParser parser,
        @Nullable RecordParser deletes,
        @Nullable FeedAids aids,
        RecordPolicy policy) {
    /** Of transforms that ask nothing beside the record, and of a source that waits. */
    static ParseTools of(RecordParser parser) {
        return new ParseTools(parser, null, null, RecordPolicy.TAKES_ALL);
    }
}
