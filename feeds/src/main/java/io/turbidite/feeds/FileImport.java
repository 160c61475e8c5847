package io.turbidite.feeds;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.FeedDefinition.DatasetPart;
import io.turbidite.feeds.FeedDefinition.FormatPart;
import io.turbidite.feeds.FeedDefinition.Mode;
import io.turbidite.feeds.FeedDefinition.Origin;
import io.turbidite.feeds.FeedDefinition.SourcePart;
import io.turbidite.feeds.store.FeedDelivery;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreDescription.DatasetDescription;
import io.turbidite.lsm.StoreOptions;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * A file, or the files of a directory, brought into a dataset once. It works as a {@link Feed} that
 * nobody defined and that is forgotten at its end: an import that was stopped and is run again
 * begins anew. Its dead letters stay.
 *
 * <p>Any thread may call {@link #stopWithin}; everything else is <em>confined to one thread</em>.
 */
public final class FileImport implements AutoCloseable {
    private final Store store;
    private final Feed feed;

    private FileImport(Store store, Feed feed) {
        this.store = store;
        this.feed = feed;
    }

    /**
     * Prepares an import.
     *
     * @param source a file or a directory
     * @throws InvalidRequestException if there is no such file, or its header lacks what the
     *     dataset needs
     */
    public static FileImport open(
            Store store, Dataset dataset, Path source, FormatPart format, Mode mode) {
        store.requireOwn(dataset);
        DatasetDescription described = store.describe().datasets().stream()
                .filter(one -> one.name().equals(dataset.name()))
                .findFirst()
                .orElseThrow();
        FeedDefinition definition = new FeedDefinition(
                // no other import of the store has this name, for one process alone writes to it
                "import-" + dataset.name() + "-" + store.environment().clock().wallMicros(),
                new DatasetPart(
                        dataset.name(),
                        dataset.type(),
                        dataset.primaryKey(),
                        dataset.filterFields(),
                        described.partitions().size(),
                        described.options(),
                        List.of()),
                SourcePart.ofFile(source),
                format,
                List.of(),
                FeedDefinition.ShapePart.NONE,
                new FeedDefinition.PolicyPart.Basic(),
                1,
                mode,
                StoreOptions.defaults(),
                new Origin(source.toString(), Map.of()));
        try {
            return new FileImport(store, Feed.open(definition, store));
        } catch (DefinitionException wrong) {
            // it speaks of keys of a file that nobody wrote
            throw new InvalidRequestException(
                    "%s %s".formatted(source, wrong.problems().getFirst().message()), wrong);
        }
    }

    /**
     * Runs to the end of the source or until stopped.
     *
     * @throws io.turbidite.core.StorageException if the source can't be read further or the store
     *     takes no more; what was accepted is in the dataset
     */
    public FeedReport run(FeedProgress progress) {
        FeedReport report = feed.run(progress);
        FeedDelivery.forget(store, feed.definition().feed(), feed.partitions());
        return report;
    }

    /** Ends the run soon; after {@code micros} nothing waits for the store either. */
    public void stopWithin(long micros) {
        feed.stopWithin(micros);
    }

    @Override
    public void close() {
        feed.close();
    }
}
