package io.turbidite.lsm.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.DuplicateKeyException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.TypedDataset;
import io.turbidite.lsm.WriteBatch;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.lang.invoke.MethodHandles;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Datasets of Java records. */
class TypedDatasetTest {
    @TempDir
    private Path directory;

    private record Person(long id, String name, @Nullable LocalDate born) {}

    private record Nameless(long id) {}

    private static DatasetSpec spec() {
        return DatasetSpec.named("People")
                .field("id", "int64")
                .field("name", "string")
                .field("born", "date?")
                .primaryKey("id");
    }

    @Test
    void records_are_put_and_read() {
        try (Store store = Store.open(directory)) {
            Dataset dataset = store.createDataset(spec());
            TypedDataset<Person> people = dataset.typed(MethodHandles.lookup(), Person.class);
            Person ann = new Person(1, "Ann", LocalDate.of(1990, 1, 2));
            Person bob = new Person(2, "Bob", null);
            people.upsert(ann);
            people.upsertAsync(bob).awaitDurable();
            assertThat(people.get(1L)).isEqualTo(ann);
            assertThat(people.get(2L)).isEqualTo(bob);
            assertThat(people.get(3L)).isNull();
            assertThat(dataset.get(1L)).containsEntry("name", "Ann");
            assertThatThrownBy(() -> people.insert(ann)).isInstanceOf(DuplicateKeyException.class);
            assertThat(people.insertIfAbsent(ann)).isFalse();
            assertThat(people.insertIfAbsent(new Person(3, "Cy", null))).isTrue();
            dataset.upsert(Map.of("id", 4L, "name", "Di", "more", 1));
            people.delete(2L);

            WriteBatch batch = store.newBatch();
            batch.upsert(dataset, people.binding().write(dataset.newRecordWriter(), bob));
            store.write(batch);
            List<String> names = new ArrayList<>();
            KeySpec key = dataset.primaryKeySpec();
            people.forEach(
                    KeyRange.between(key.encode(2L), true, key.encode(4L), true),
                    person -> names.add(person.name()));
            assertThat(names).containsExactly("Bob", "Cy", "Di");
        }
    }

    @Test
    void a_record_that_does_not_fit_is_refused() {
        try (Store store = Store.open(directory)) {
            Dataset dataset = store.createDataset(spec());
            assertThatThrownBy(() -> dataset.typed(MethodHandles.lookup(), Nameless.class))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("field 'name' (string) is required and no component");
            TypedDataset<Person> people = dataset.typed(MethodHandles.lookup(), Person.class);
            @SuppressWarnings("NullAway") // on purpose
            Person nobody = new Person(1, null, null);
            assertThatThrownBy(() -> people.upsert(nobody))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("name");
            assertThat(people.get(1L)).isNull();
        }
    }
}
