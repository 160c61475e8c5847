package io.turbidite.feeds.command.common;

import io.turbidite.feeds.ShellWord;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreDescription.DatasetDescription;
import io.turbidite.lsm.StoreDescription.IndexDescription;

import java.util.List;
import java.util.function.Predicate;

/**
 * Says which indexes are disabled and how they come back: a rebuilding that was killed leaves its
 * index so. Static, without state.
 */
public final class DisabledIndexes {
    private DisabledIndexes() {}

    /** The note on an index of a dataset, whose store's directory was given so. */
    public static String note(String directory, String dataset, IndexDescription index) {
        return "index %s of %s is disabled: it is not maintained and not searched%s; ./turbidite index enable %s %s %s builds it anew"
                .formatted(
                        index.name(),
                        dataset,
                        index.unique() ? ", and two records may have the same key" : "",
                        ShellWord.of(directory),
                        dataset,
                        index.name());
    }

    /** Those of a dataset. */
    public static List<IndexDescription> of(DatasetDescription dataset) {
        return dataset.partitions().getFirst().indexes().stream()
                .filter(index -> index.state().equals("disabled"))
                .toList();
    }

    /** Tells of those of a dataset that matter. */
    public static void tell(
            Store store,
            Dataset dataset,
            String directory,
            Console console,
            Predicate<IndexDescription> matters) {
        store.describe().datasets().stream()
                .filter(described -> described.name().equals(dataset.name()))
                .flatMap(described -> of(described).stream())
                .filter(matters)
                .forEach(index ->
                        console.err().println("note: " + note(directory, dataset.name(), index)));
    }
}
