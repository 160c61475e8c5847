package io.turbidite.core.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.Rectangle;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.lang.invoke.MethodHandles;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Java records to encoded ones and back. */
class RecordBindingTest {
    private static RecordType type(String... fields) {
        return RecordType.of(Arrays.stream(fields)
                .map(field -> field.split("=", 2))
                .map(parts -> Field.parse(parts[0], parts[1]))
                .toList());
    }

    private static <R extends Record> RecordBinding<R> bind(Class<R> record, RecordType type) {
        return RecordBinding.of(MethodHandles.lookup(), record, type);
    }

    private static <R extends Record> R again(RecordBinding<R> binding, R record) {
        RecordWriter writer = new RecordWriter(binding.type());
        return binding.read(new RecordView(binding.type()).wrap(binding.write(writer, record)));
    }

    record Every(
            boolean b,
            byte i8,
            short i16,
            int i32,
            long i64,
            float f,
            double d,
            BigDecimal m,
            String s,
            UUID u,
            LocalDate date,
            LocalTime time,
            Instant at,
            Duration took,
            Point place,
            Point lonlat,
            Rectangle box,
            List<String> tags) {}

    private static final RecordType EVERY = type(
            "b=bool",
            "i8=int8",
            "i16=int16",
            "i32=int32",
            "i64=int64",
            "f=float",
            "d=double",
            "m=decimal",
            "s=string",
            "u=uuid",
            "date=date",
            "time=time",
            "at=datetime",
            "took=duration",
            "place=point",
            "lonlat=point(lonlat)",
            "box=rectangle",
            "tags=[string]");

    @Test
    void a_component_of_each_kind_comes_back() {
        Every record = new Every(
                true,
                Byte.MIN_VALUE,
                Short.MAX_VALUE,
                Integer.MIN_VALUE,
                Long.MAX_VALUE,
                0.1f,
                1e300,
                new BigDecimal("12.50"),
                "ä",
                new UUID(1, 2),
                LocalDate.of(2013, 7, 4),
                LocalTime.of(10, 15),
                Instant.ofEpochSecond(7, 1_000),
                Duration.ofMinutes(90),
                new Point(1, 2),
                new Point(-80, 25),
                new Rectangle(0, 0, 1, 2),
                List.of("a", ""));
        assertThat(again(bind(Every.class, EVERY), record)).isEqualTo(record);
    }

    record Wide(
            @Nullable Long i8,
            @Nullable Integer i16,
            @Nullable Long i32,
            @Nullable Double f,
            @Nullable Object s,
            @Nullable CharSequence t) {}

    @Test
    void wider_components_are_taken_and_null_is_null() {
        RecordType type = type(
                "id=int64?",
                "i8=int8?",
                "i16=int16?",
                "i32=int32?",
                "f=float?",
                "s=string?",
                "t=string?");
        RecordBinding<Wide> binding = bind(Wide.class, type);
        Wide record = new Wide(-8L, 16, 32L, 0.5, "s", "t");
        assertThat(again(binding, record)).isEqualTo(record);
        Wide nothing = new Wide(null, null, null, null, null, null);
        assertThat(again(binding, nothing)).isEqualTo(nothing);
        assertThatThrownBy(() -> again(binding, new Wide(128L, null, null, null, null, null)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("i8")
                .hasMessageContaining("128");
    }

    record User(String lang, @Nullable Address home) {}

    record Address(String city) {}

    record Tweet(long id, User user, Map<String, Object> rest) {}

    @Test
    void records_within_records_come_back() {
        RecordType type =
                type("id=int64", "user={lang: string, home: {city: string}?}", "rest={n: int64}");
        RecordBinding<Tweet> binding = bind(Tweet.class, type);
        Tweet tweet =
                new Tweet(1, new User("en", new Address("Ulm")), Map.of("n", 1L, "open", "x"));
        assertThat(again(binding, tweet)).isEqualTo(tweet);
        Tweet homeless = new Tweet(2, new User("de", null), Map.of("n", 2L));
        assertThat(again(binding, homeless)).isEqualTo(homeless);
    }

    record Wrong(int id, long nmae, int age, List<Integer> tags, Bad user, String when) {}

    record Bad(int lang, String more) {}

    @Test
    void all_that_does_not_fit_is_listed() {
        RecordType type = type(
                "id=int64",
                "name=string",
                "age=int32?",
                "tags=[string]",
                "user={lang: string, home: string}",
                "when=datetime",
                "extra=string?");
        assertThatThrownBy(() -> bind(Wrong.class, type))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("record Wrong does not fit: "
                        + "component 'id' is int, and the field (int64) takes Long; "
                        + "component 'nmae' is no declared field; is 'name' meant?; "
                        + "component 'age' is int, and the field (int32?) may be null: take Integer; "
                        + "component 'tags' is List<Integer>, and the field ([string]) takes List<String>; "
                        + "component 'user.lang' is int, and the field (string) takes String; "
                        + "component 'user.more' is no declared field; "
                        + "field 'user.home' (string) is required and no component; "
                        + "component 'when' is String, and the field (datetime) takes Instant; "
                        + "field 'name' (string) is required and no component");
    }

    record Careful(long id) {
        Careful {
            if (id < 0) {
                throw new IllegalArgumentException("negative");
            }
        }
    }

    @Test
    void what_a_record_s_own_code_throws_is_passed_on() {
        RecordType type = type("id=int64");
        RecordWriter writer = new RecordWriter(type);
        RecordView view = new RecordView(type).wrap(writer.write(Map.of("id", -1L)));
        assertThatThrownBy(() -> bind(Careful.class, type).read(view))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("negative");
    }

    @Test
    void a_lookup_without_access_is_refused() {
        assertThatThrownBy(() -> RecordBinding.of(
                        MethodHandles.publicLookup(), Careful.class, type("id=int64")))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("may not use record")
                .hasMessageContaining("MethodHandles.lookup()");
    }

    @Test
    void a_writer_of_another_type_is_refused() {
        RecordBinding<Careful> binding = bind(Careful.class, type("id=int64"));
        RecordWriter other = new RecordWriter(type("id=int64", "x=int64"));
        assertThatThrownBy(() -> binding.write(other, new Careful(1)))
                .isInstanceOf(InvalidRequestException.class);
    }

    @Test
    void the_class_of_all_records_is_refused() {
        assertThatThrownBy(() -> bind(Record.class, type("id=int64")))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("java.lang.Record is no record");
    }
}
