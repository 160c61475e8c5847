package io.turbidite.ops.sql;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.catalog.Catalog;
import io.turbidite.core.catalog.ChangeBatch;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.Source;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.Predicates;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.expr.Predicate;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * {@code UPDATE} and {@code DELETE}. <em>Immutable.</em>
 *
 * <ol>
 *   <li>The records are found at one moment.
 *   <li>They are changed in batches, each whole or not at all, and only while all its records are
 *       those of that moment.
 *   <li>Where one is not, the others of the batch go on without it; the statement looks for it once
 *       more, by its key, at a later moment. So no write of others is lost, and none is changed
 *       that does not fit.
 * </ol>
 */
final class Alteration implements Effect {
    private final Catalog catalog;
    private final Source target;
    private final RowPlan rows;
    private final KeySpec key;

    /** What becomes of a record; null: it is deleted. */
    private final @Nullable List<Assignment> assignments;

    /** Of the fields that are assigned. */
    private final Set<String> assignedNames = new HashSet<>();

    private final Assignment.Wrong wrong;

    /** @param rows the values of the primary key, then those that are assigned */
    Alteration(
            Catalog catalog,
            Source target,
            RowPlan rows,
            @Nullable List<Assignment> assignments,
            Assignment.Wrong wrong) {
        this.catalog = catalog;
        this.target = target;
        this.rows = rows;
        this.assignments = assignments;
        this.wrong = wrong;
        this.key = keyOf(target);
        if (assignments != null) {
            assignments.forEach(one -> assignedNames.add(one.path().getFirst()));
        }
    }

    private static KeySpec keyOf(Source target) {
        return KeySpec.of(
                target.type(),
                target.primaryKey(),
                "primary key of " + target.name(),
                target.keyForm());
    }

    @Override
    public Planned rows() {
        return rows.planned();
    }

    @Override
    public void apply(RunOptions options, @Nullable Object[] checked, ChangedCount count) {
        try (MomentViews moment = new MomentViews(catalog)) {
            new Round(moment, options, checked, count).all();
        }
    }

    /** A change that may have to be put in once more. */
    private record Put(Slice key, @Nullable Slice record) {}

    /** What is found at one moment, and changed if it is still so. */
    private final class Round {
        private final MomentViews moment;
        private final RunOptions options;
        private final @Nullable Object[] checked;
        private final ChangedCount count;
        private final ChangeBatch batch = catalog.newBatch(target);
        private final RecordWriter writer = new RecordWriter(target.type());
        private final RecordView before = new RecordView(target.type());
        private final ByteSink keyBytes = new ByteSink(64, 64 * Limits.KEY_BYTES_MAX);
        private final ByteSink recordBytes = new ByteSink(256, Limits.RECORD_BYTES_MAX);
        private final Slice slice = new Slice();

        /** What is in the batch. */
        private List<Put> puts = new ArrayList<>();

        /** Keys of records that others have changed since the moment. */
        private List<Slice> refused = new ArrayList<>();

        Round(
                MomentViews moment,
                RunOptions options,
                @Nullable Object[] checked,
                ChangedCount count) {
            this.moment = moment;
            this.options = options;
            this.checked = checked;
            this.count = count;
        }

        void all() {
            find(List.of());
            write();
            again();
        }

        /** Changes what is there of these keys now. */
        private void all(List<Slice> keys) {
            for (Slice one : keys) {
                find(only(one));
            }
            write();
        }

        private List<Predicate> only(Slice encoded) {
            List<@Nullable Object> values = key.decode(encoded, 0);
            List<Predicate> only = new ArrayList<>();
            for (int i = 0; i < values.size(); i++) {
                only.add(Predicates.eq(key.fields().get(i), values.get(i)));
            }
            return only;
        }

        private void find(List<Predicate> only) {
            try (QueryResult result =
                    rows.at(moment, only, checked).with(options).run()) {
                while (result.next()) {
                    put(result.row());
                }
            }
        }

        private void put(RecordView row) {
            Slice encoded = key(row);
            Slice record = null;
            if (assignments != null) {
                record = record(encoded, row, assignments);
            }
            if (!batch.hasRoom(record == null ? encoded.length() : record.length())) {
                write();
                if (refused.size() > 0) {
                    again();
                }
            }
            Put put = new Put(
                    Slice.of(encoded.toByteArray()),
                    record == null ? null : Slice.of(record.toByteArray()));
            puts.add(put);
            put(put);
        }

        private void put(Put put) {
            if (put.record() == null) {
                batch.delete(put.key());
            } else {
                batch.upsert(put.record());
            }
        }

        private Slice key(RecordView row) {
            List<@Nullable Object> values = new ArrayList<>();
            for (int i = 0; i < key.fields().size(); i++) {
                values.add(row.get(rows.field(i)));
            }
            keyBytes.clear();
            key.appendValues(keyBytes, values);
            return keyBytes.asSlice(new Slice());
        }

        /** The record as it is at the moment, with what is assigned; fields that stay, stay. */
        private Slice record(Slice encoded, RecordView row, List<Assignment> assigned) {
            recordBytes.clear();
            if (!moment.view(target).get(encoded, recordBytes)) {
                throw new IllegalStateException("a record that was found is not there");
            }
            RecordType type = target.type();
            writer.begin();
            Map<String, @Nullable Object> fields =
                    before.wrap(recordBytes.asSlice(slice)).toMap();
            for (Map.Entry<String, @Nullable Object> one : fields.entrySet()) {
                int field = type.memberOf(RecordType.TOP, one.getKey());
                if (field < 0) {
                    writer.openField(one.getKey(), one.getValue());
                } else if (!assignedNames.contains(one.getKey())) {
                    writer.setObject(field, one.getValue());
                }
            }
            Map<String, Map<String, @Nullable Object>> nested = new HashMap<>();
            for (int i = 0; i < assigned.size(); i++) {
                Assignment one = assigned.get(i);
                try {
                    if (one.isNested()) {
                        String top = one.path().getFirst();
                        Map<String, @Nullable Object> members = nested.computeIfAbsent(
                                top, name -> Assignment.member(new HashMap<>(fields), name));
                        one.put(members, row);
                        if (isLast(assigned, i, top)) {
                            writer.setObject(type.memberOf(RecordType.TOP, top), members);
                        }
                    } else {
                        one.set(writer, row);
                    }
                } catch (InvalidRequestException e) {
                    throw wrong.at(
                            "%s, of the record with primary key %s"
                                    .formatted(e.getMessage(), key.decode(encoded, 0)),
                            one.place());
                }
            }
            return writer.finish();
        }

        /** Whether nothing further is put into a nested record. */
        private static boolean isLast(List<Assignment> assigned, int index, String top) {
            return assigned.subList(index + 1, assigned.size()).stream()
                    .noneMatch(one -> one.path().getFirst().equals(top));
        }

        /** Writes the batch without what others have changed; that is {@link #refused}. */
        private void write() {
            while (!puts.isEmpty()) {
                BitSet changed = batch.writeIfUnchangedSince(moment.timestamp());
                if (changed.isEmpty()) {
                    count.add(puts.size());
                    puts.clear();
                } else {
                    List<Put> left = new ArrayList<>();
                    for (int i = 0; i < puts.size(); i++) {
                        if (changed.get(i)) {
                            refused.add(puts.get(i).key());
                        } else {
                            left.add(puts.get(i));
                        }
                    }
                    puts = left;
                }
                batch.clear();
                puts.forEach(this::put);
            }
        }

        /** Looks for what was refused at later moments, until nothing is. */
        private void again() {
            List<Slice> keys = refused;
            refused = new ArrayList<>();
            while (!keys.isEmpty()) {
                options.checkNotStopped();
                try (MomentViews now = new MomentViews(catalog)) {
                    Round round = new Round(now, options, checked, count);
                    round.all(keys);
                    keys = round.refused;
                }
            }
        }
    }
}
