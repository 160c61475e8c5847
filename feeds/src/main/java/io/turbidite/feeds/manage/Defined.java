package io.turbidite.feeds.manage;

import io.turbidite.feeds.FeedDefinition;
import io.turbidite.feeds.FeedDefinition.PolicyPart;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;

/**
 * A definition, as it is kept and as it is read. <em>Immutable.</em>
 *
 * @param definition null if it was right once, and is no more
 */
record Defined(KeptDefinition kept, @Nullable FeedDefinition definition) {
    String dataset() {
        return definition == null ? "" : definition.dataset().name();
    }

    /** Whether it says how many parse workers there are, more than one, or between which bounds. */
    boolean namesWorkers() {
        return definition != null
                && (definition.workers() > 1 || definition.policy() instanceof PolicyPart.Elastic);
    }

    /** The definition; if it is not right, this says what is wrong. */
    FeedDefinition read() {
        return definition == null
                ? FeedDefinition.parse(kept.feed(), Path.of(kept.directory()), kept.text())
                : definition;
    }
}
