package io.turbidite.lsm;

import io.turbidite.core.DuplicateKeyException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.record.RecordBinding;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.RecordScan;

import org.jspecify.annotations.Nullable;

import java.util.function.Consumer;

/**
 * A dataset whose records are put and read as Java records ({@link RecordBinding} says how). For
 * all else there is its {@link #dataset}.
 *
 * <pre>{@code
 * record Person(long id, String name, @Nullable LocalDate born) {}
 *
 * TypedDataset<Person> people = dataset.typed(MethodHandles.lookup(), Person.class);
 * people.upsert(new Person(1, "Ann", null));
 * Person ann = people.get(1L);
 * }</pre>
 *
 * <p>A record that is put has no fields but its components: what else one had that it replaces is
 * gone. <em>Thread-safe.</em>
 */
public final class TypedDataset<R extends Record> {
    private final Dataset dataset;
    private final RecordBinding<R> binding;

    TypedDataset(Dataset dataset, RecordBinding<R> binding) {
        this.dataset = dataset;
        this.binding = binding;
    }

    /** The dataset behind it. */
    public Dataset dataset() {
        return dataset;
    }

    /** Encodes and decodes: for batches, and for what queries and views give. */
    public RecordBinding<R> binding() {
        return binding;
    }

    /**
     * Puts a record. It replaces the one with the same primary key, if there is one.
     *
     * @throws InvalidRequestException naming the field whose value does not fit
     */
    public void upsert(R record) {
        dataset.upsert(binding, record);
    }

    /**
     * As {@link #upsert}, but returns as soon as the record is visible.
     *
     * @return tells when it is durable
     */
    public Commit upsertAsync(R record) {
        return dataset.upsertAsync(binding, record);
    }

    /**
     * Puts a record whose primary key must be free.
     *
     * @throws DuplicateKeyException if the key is taken; nothing was changed
     */
    public void insert(R record) {
        dataset.insert(binding, record);
    }

    /**
     * Puts a record if its primary key is free. Reads the key, whatever the strategy.
     *
     * @return whether it was free; if not, nothing was changed
     */
    public boolean insertIfAbsent(R record) {
        return dataset.insertIfAbsent(binding, record);
    }

    /** The record with this primary key; null if there is none. */
    public @Nullable R get(Object... primaryKey) {
        return dataset.get(binding, primaryKey);
    }

    /** Deletes the record with this primary key, if there is one. */
    public void delete(Object... primaryKey) {
        dataset.delete(primaryKey);
    }

    /** Gives the records whose primary keys are in a range, as they are now, in key order. */
    public void forEach(KeyRange primaryKeys, Consumer<? super R> consumer) {
        try (RecordScan scan = dataset.scan(primaryKeys)) {
            while (scan.next()) {
                consumer.accept(binding.read(scan.record()));
            }
        }
    }

    /** What it is of. */
    @Override
    public String toString() {
        return "%s of %s".formatted(dataset.name(), binding);
    }
}
