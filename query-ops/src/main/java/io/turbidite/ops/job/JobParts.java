package io.turbidite.ops.job;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.NearestName;
import io.turbidite.core.catalog.Catalog;
import io.turbidite.core.catalog.ChangeBatch;
import io.turbidite.core.catalog.OpenCatalog;
import io.turbidite.core.scan.Source;
import io.turbidite.ops.expr.Given;

import org.jspecify.annotations.Nullable;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * What a job may name: datasets, and operators of the embedder's own. <em>Immutable.</em>
 *
 * <pre>{@code
 * JobParts parts = JobParts.of(store.datasets()).withOperator("sessions", Sessions::new);
 * }</pre>
 */
public final class JobParts {
    private final Map<String, Source> datasets;
    private final Map<String, Supplier<? extends RowOperator>> operators;
    private final @Nullable Catalog changed;

    private JobParts(
            Map<String, Source> datasets,
            Map<String, Supplier<? extends RowOperator>> operators,
            @Nullable Catalog changed) {
        this.changed = changed;
        this.datasets = Collections.unmodifiableMap(datasets);
        this.operators = Collections.unmodifiableMap(operators);
    }

    /** These datasets, which have different names. */
    public static JobParts of(List<? extends Source> datasets) {
        Map<String, Source> byName = new LinkedHashMap<>();
        for (Source dataset : Given.notNull(datasets, "the datasets of a job")) {
            if (byName.put(dataset.name(), dataset) != null) {
                throw new InvalidRequestException(
                        "two datasets are named '%s'".formatted(dataset.name()));
            }
        }
        return new JobParts(byName, Map.of(), null);
    }

    /**
     * The same with a kind of operator of the embedder's own.
     *
     * @param kind by which graphs name it; none of those that are there
     * @param maker makes an instance for each partition
     */
    public JobParts withOperator(String kind, Supplier<? extends RowOperator> maker) {
        Given.notNull(kind, "the kind of an operator");
        Given.notNull(maker, "what makes operators");
        if (OperatorKinds.BUILT_IN.containsKey(kind) || operators.containsKey(kind)) {
            throw new InvalidRequestException(
                    "there is a kind of operator named '%s'".formatted(kind));
        }
        Map<String, Supplier<? extends RowOperator>> more = new LinkedHashMap<>(operators);
        more.put(kind, maker);
        return new JobParts(datasets, more, changed);
    }

    /**
     * The same for jobs that change datasets too, by {@code insert}, {@code upsert} and {@code
     * delete}.
     *
     * @param catalog the store whose datasets they are
     */
    public JobParts changing(Catalog catalog) {
        return new JobParts(
                datasets, operators, Given.notNull(catalog, "the catalog that a job changes"));
    }

    Source dataset(String name) {
        Source found = datasets.get(name);
        if (found == null) {
            throw new InvalidRequestException("there is no dataset '%s'%s"
                    .formatted(name, NearestName.hint(name, datasets.keySet())));
        }
        return found;
    }

    /** A dataset that sinks change. */
    Source target(String name) {
        List<? extends Source> all = catalog().datasets();
        for (Source one : all) {
            if (one.name().equals(name)) {
                if (name.startsWith("_")) {
                    throw new InvalidRequestException(
                            "dataset '%s' is the store's own, which jobs don't change"
                                    .formatted(name));
                }
                return one;
            }
        }
        throw new InvalidRequestException("there is no dataset '%s'%s"
                .formatted(
                        name,
                        NearestName.hint(name, all.stream().map(Source::name).toList())));
    }

    ChangeBatch newBatch(Source target) {
        return catalog().newBatch(target);
    }

    private Catalog catalog() {
        Catalog known = changed;
        if (known == null) {
            throw new InvalidRequestException(
                    "datasets can't be changed here: the parts of the job have no catalog, which JobParts.changing gives");
        }
        if (known instanceof OpenCatalog store && store.isReadOnly()) {
            throw new InvalidRequestException("the store is open for reading only");
        }
        return known;
    }

    @Nullable
    Supplier<? extends RowOperator> operator(String kind) {
        return operators.get(kind);
    }

    /** The names of the embedder's kinds. */
    Iterable<String> kinds() {
        return operators.keySet();
    }
}
