package io.turbidite.lsm;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.index.IndexKinds;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.lsm.schema.DatasetOptions;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.Retention;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;

/**
 * Finds where a specification contradicts a dataset that exists. <em>Confined to one thread, used
 * once.</em>
 *
 * <p>These are no contradictions: another order of the declared fields, an index that the
 * specification does not name, and what it leaves at its default, which then means what the dataset
 * has: a later release may have another default. But a missing retention is one: such a
 * specification wants to keep all records.
 */
final class SpecMatch {
    private final DatasetSpec spec;
    private final DatasetSchema wanted;
    private final DatasetSchema there;
    private final List<String> differences = new ArrayList<>();

    private SpecMatch(DatasetSpec spec, DatasetSchema there, IndexKinds kinds) {
        this.spec = spec;
        this.wanted = spec.resolve(there.id(), kinds);
        this.there = there;
    }

    /**
     * Checks that a specification fits a dataset.
     *
     * @param kinds that the store was given
     * @param where the store, for people
     * @throws InvalidRequestException listing all that differs, or saying what is wrong with the
     *     specification itself
     */
    static void check(DatasetSpec spec, DatasetSchema there, IndexKinds kinds, String where) {
        SpecMatch match = new SpecMatch(spec, there, kinds);
        match.compareType();
        match.compare("the primary key", spec.primaryKey(), there.primaryKey().fields());
        match.compareChosen("the filter", spec.filterFields(), there.filterFields(), List.of());
        match.compareChosen("the number of partitions", spec.partitions(), there.partitions(), 1);
        match.compareOptions();
        match.compareIndexes();
        if (!match.differences.isEmpty()) {
            throw new InvalidRequestException(
                    "dataset %s in the store in %s differs from its specification: %s"
                            .formatted(spec.name(), where, String.join("; ", match.differences)));
        }
    }

    private void compareType() {
        RecordType type = there.type();
        for (Field field : wanted.type().fields()) {
            int index = type.indexOf(field.name());
            if (index < 0) {
                differences.add(
                        "field '%s' is %s, there not declared, which is for life: leave it out, since records keep fields that are not declared too, or load the records into a new dataset"
                                .formatted(field.name(), field.typeLabel()));
                continue;
            }
            compare(
                    "field '%s'".formatted(field.name()),
                    field.typeLabel(),
                    type.field(index).typeLabel());
        }
        for (Field field : type.fields()) {
            if (wanted.type().indexOf(field.name()) < 0) {
                differences.add("field '%s' is not declared, there %s: declare it so"
                        .formatted(field.name(), field.typeLabel()));
            }
        }
    }

    private void compareOptions() {
        DatasetOptions defaults = DatasetOptions.defaults();
        Map<String, ?> kept = there.options().labels();
        Map<String, ?> standard = defaults.labels();
        spec.options().labels().forEach((key, label) -> {
            if (!key.equals("retain")) {
                compareChosen(key, label, kept.get(key), standard.get(key));
            }
        });
        Retention retention = spec.retention();
        compare("retain", text(retention), text(there.retention()));
        compareChosen("components", spec.components(), there.components(), defaults.components());
    }

    private void compareIndexes() {
        for (IndexSchema index : wanted.catalog().all()) {
            IndexSchema kept = there.catalog().find(index.name());
            String what = "index " + index.name();
            if (kept == null) {
                differences.add(
                        "%s is not there: create it with store.dataset(\"%s\").createIndex(%s)"
                                .formatted(what, spec.name(), call(index)));
                continue;
            }
            compare(what + ": the kind", index.kind().label(), kept.kind().label());
            compare(what + ": fields", index.fields(), kept.fields());
            if (!index.entryKeys().hasParametersOf(kept.entryKeys())) {
                compare(
                        what + ": parameters",
                        index.entryKeys().parameters(),
                        kept.entryKeys().parameters());
            }
            compare(what + ": unique", index.unique(), kept.unique());
            if (kept.state() == IndexSchema.State.DISABLED) {
                differences.add(
                        "%s is disabled: enable it with store.dataset(\"%s\").enableIndex(\"%s\")"
                                .formatted(what, spec.name(), index.name()));
            }
        }
        for (IndexSpec index : spec.indexes()) {
            IndexSchema kept = there.catalog().find(index.name());
            if (kept != null) {
                String what = "index " + index.name();
                compareChosen(
                        what + ": maintenance", index.maintenance(), kept.maintenance(), null);
                compareChosen(what + ": pages", index.pages(), kept.pages(), null);
            }
        }
    }

    /** As it is written in Java. */
    private static String call(IndexSchema index) {
        List<String> arguments = new ArrayList<>();
        arguments.add(index.name());
        arguments.addAll(index.fields());
        return "IndexSpec.%s(%s)%s"
                .formatted(
                        index.kind().label(),
                        arguments.stream()
                                .map(argument -> '"' + argument + '"')
                                .collect(Collectors.joining(", ")),
                        index.unique() ? ".asUnique()" : "");
    }

    private static String text(@Nullable Object value) {
        return value == null ? "none" : value.toString();
    }

    private void compareChosen(
            String what,
            @Nullable Object asked,
            @Nullable Object kept,
            @Nullable Object byDefault) {
        if (!Objects.equals(asked, byDefault)) {
            compare(what, asked, kept);
        }
    }

    private void compare(String what, @Nullable Object asked, @Nullable Object kept) {
        if (!Objects.equals(asked, kept)) {
            differences.add("%s is %s, there %s".formatted(what, text(asked), text(kept)));
        }
    }
}
