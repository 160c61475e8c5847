package io.turbidite.feeds;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.FeedDefinition.DatasetPart;
import io.turbidite.lsm.DatasetSpec;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;

/**
 * The section {@code dataset} of a definition, by itself: what makes a dataset that no feed fills.
 * Static, without state.
 */
public final class DatasetDefinition {
    private DatasetDefinition() {}

    /**
     * Reads the dataset of a definition. The file may be that of a feed: its other sections are not
     * looked at.
     *
     * @throws DefinitionException with every problem found, each with its line and key
     * @throws InvalidRequestException if there is no such file
     */
    public static DatasetSpec load(Path file) {
        return parse(file.toString(), FeedDefinition.read(file));
    }

    /**
     * As {@link #load}, from text.
     *
     * @param name by which problems call it
     */
    public static DatasetSpec parse(String name, String yaml) {
        return new DefinitionReader(name, Path.of(""))
                .read(YamlTree.read(name, yaml), DatasetDefinition::spec);
    }

    private static @Nullable DatasetSpec spec(Section root) {
        DatasetPart dataset = DatasetReader.read(root);
        return dataset == null
                ? null
                : root.convert("dataset", dataset, whole -> whole.toSpec().check());
    }
}
