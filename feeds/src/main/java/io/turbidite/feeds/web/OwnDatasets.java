package io.turbidite.feeds.web;

import io.turbidite.feeds.web.http.Doorkeeper;
import io.turbidite.feeds.web.http.Exchange;
import io.turbidite.feeds.web.http.Problem;
import io.turbidite.feeds.web.http.Right;

/**
 * The datasets in which a store keeps what its feeds are and how far they got: their names begin
 * with {@code _}. They tell of every feed, whole definitions and who sends to them, so callers use
 * them only who may read every feed. <em>Immutable.</em>
 */
final class OwnDatasets {
    private final Doorkeeper.Caller caller;
    private final boolean mayUse;

    private OwnDatasets(Doorkeeper.Caller caller) {
        this.caller = caller;
        this.mayUse = caller.may(Right.READ, "feed", "*");
    }

    /** What the caller may use of them. */
    static OwnDatasets of(Exchange exchange) {
        return new OwnDatasets(exchange.caller());
    }

    /** Whether the caller may use a dataset, of the store's own or not. */
    boolean mayUse(String dataset) {
        return mayUse || !dataset.startsWith("_");
    }

    /**
     * Refuses a dataset that the caller may not use.
     *
     * @throws Problem with 403
     */
    void require(String dataset) {
        if (!mayUse(dataset)) {
            throw Problem.of(
                            403,
                            "%s may not use %s: %s tells of every feed of the store"
                                    .formatted(caller.name(), dataset, dataset))
                    .advise("ask with a token for all feeds (--feeds '*')");
        }
    }
}
