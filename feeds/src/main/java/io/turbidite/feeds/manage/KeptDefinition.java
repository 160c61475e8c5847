package io.turbidite.feeds.manage;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Store;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * A feed's row in the internal dataset {@value #DATASET}: its definition, and what was last asked
 * of it. <em>Immutable.</em>
 *
 * <p>Nothing but a {@link FeedManager} reads the rows: whoever else opens the store starts no feed.
 *
 * @param feed the feed's name
 * @param text of its definition
 * @param directory to which paths in the definition are relative
 * @param wanted what it is to do when the store is served
 */
record KeptDefinition(String feed, String text, String directory, Wanted wanted) {
    /** Names of users' datasets don't begin with an underscore. */
    static final String DATASET = "_definitions";

    /** What was last asked of a feed. */
    enum Wanted {
        RUN("run"),
        PAUSE("pause"),
        STOP("stop");

        private final String word;

        Wanted(String word) {
            this.word = word;
        }

        static Wanted of(String feed, String word) {
            for (Wanted wanted : values()) {
                if (wanted.word.equals(word)) {
                    return wanted;
                }
            }
            throw new CorruptionException(DATASET, 0, "row of " + feed, "run, pause or stop", word);
        }
    }

    KeptDefinition with(Wanted newWanted) {
        return new KeptDefinition(feed, text, directory, newWanted);
    }

    /** All of a store, by name; none of one that never served a feed. */
    static List<KeptDefinition> all(Store store) {
        Dataset dataset = store.findDataset(DATASET);
        List<KeptDefinition> all = new ArrayList<>();
        if (dataset == null) {
            return all;
        }
        RecordView record = new RecordView(dataset.type());
        int feed = dataset.type().require("feed", DATASET);
        int text = dataset.type().require("definition", DATASET);
        int directory = dataset.type().require("directory", DATASET);
        int wanted = dataset.type().require("wanted", DATASET);
        try (ReadView view = dataset.openView()) {
            for (int p = 0; p < view.partitionCount(); p++) {
                try (RecordCursor rows = view.scan(p, KeyRange.all(), FilterPredicate.none())) {
                    while (rows.next()) {
                        record.wrap(rows.record());
                        String name = record.getBytes(feed).toUtf8();
                        all.add(new KeptDefinition(
                                name,
                                record.getBytes(text).toUtf8(),
                                record.getBytes(directory).toUtf8(),
                                Wanted.of(name, record.getBytes(wanted).toUtf8())));
                    }
                }
            }
        }
        all.sort(Comparator.comparing(KeptDefinition::feed));
        return all;
    }

    /** Keeps it, in place of another of its feed. */
    void keep(Store store) {
        store.openDataset(DatasetSpec.named(DATASET)
                        .field("feed", "string")
                        .field("definition", "string")
                        .field("directory", "string")
                        .field("wanted", "string")
                        .primaryKey("feed"))
                .upsert(Map.of(
                        "feed",
                        feed,
                        "definition",
                        text,
                        "directory",
                        directory,
                        "wanted",
                        wanted.word));
        store.sync();
    }

    /** Forgets the definition of a feed. */
    static void forget(Store store, String feed) {
        store.dataset(DATASET).delete(feed);
        store.sync();
    }
}
