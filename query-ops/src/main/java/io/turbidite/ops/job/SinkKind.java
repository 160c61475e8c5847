package io.turbidite.ops.job;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.catalog.ChangeBatch;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.scan.Source;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

import java.util.List;
import java.util.Locale;

/** The operators that change a dataset by the rows of their input. */
enum SinkKind implements OperatorKind {
    /** Puts records whose keys must be free. */
    INSERT,
    /** Puts records, in place of those with their keys. */
    UPSERT,
    /** Deletes the records of keys. */
    DELETE;

    /** The field of its only row. */
    static final String CHANGED = "changed";

    private static final RecordType COUNT =
            RecordType.builder().field(CHANGED, "int64").build();

    /** As JSON writes it. */
    String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    @Override
    public List<String> settings() {
        return List.of("dataset");
    }

    @Override
    public boolean blocks(int input) {
        return true;
    }

    @Override
    public RecordType type(Settings settings, List<RecordType> inputs, JobParts parts) {
        var _ = maker(settings, inputs.getFirst(), parts);
        return COUNT;
    }

    /** What makes changes of rows. */
    private ChangeMaker maker(Settings settings, RecordType rows, JobParts parts) {
        Source target = parts.target(settings.text("dataset"));
        if (this == DELETE) {
            return new DeletingChanges(target, rows);
        }
        return new PuttingChanges(target, rows, this == INSERT);
    }

    /**
     * The only row of an instance, behind which all changes are done.
     *
     * @param input its rows
     */
    SinkRows rows(
            Settings settings,
            RecordType type,
            JobParts parts,
            SinkRows.Input input,
            ChangedCounts counts) {
        Source target = parts.target(settings.text("dataset"));
        ChangeBatch batch = parts.newBatch(target);
        return new SinkRows(
                COUNT,
                settings.operator().name(),
                maker(settings, type, parts),
                batch,
                input,
                counts);
    }

    @Override
    public void checkPartitions(Settings settings, List<Layout> inputs) {
        if (settings.operator().partitions() > 1 && inputs.getFirst().isOnAll()) {
            throw settings.wrong("each of its partitions has all rows, and would put all of them");
        }
    }

    @Override
    public String detail(Settings settings) {
        return settings.text("dataset");
    }

    /** The field of rows that goes into a key or a record. */
    static int required(RecordType rows, String field, Source target) {
        int index = rows.indexOf(field);
        if (index < 0) {
            throw new InvalidRequestException(
                    "its rows have no field '%s', which is of the primary key of %s: they have %s%s"
                            .formatted(field, target.name(), rows.names(), rows.meant(field)));
        }
        return index;
    }

    /** Of the primary key of the target, made of the rows. */
    static KeySpec key(RecordType rows, Source target) {
        for (String field : target.primaryKey()) {
            int at = required(rows, field, target);
            TypeKind given = rows.field(at).kind();
            TypeKind wanted = target.type().field(target.type().indexOf(field)).kind();
            if (given != wanted) {
                throw new InvalidRequestException(
                        "field '%s' of its rows is %s, and the primary key of %s has %s: cast it"
                                .formatted(field, given.label(), target.name(), wanted.label()));
            }
        }
        return KeySpec.of(
                rows, target.primaryKey(), "primary key of " + target.name(), target.keyForm());
    }
}
