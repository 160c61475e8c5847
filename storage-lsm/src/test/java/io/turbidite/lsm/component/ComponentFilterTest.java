package io.turbidite.lsm.component;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.geo.SpatialKind;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.Rectangle;

import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Consumer;

/** A filter prunes what can't match and nothing else. */
class ComponentFilterTest {
    @Test
    void aFilterPrunesOutsideItsBounds() {
        ComponentFilter filter = filter(20, 40);
        assertThat(filter.mayMatch(closed(0, 19))).isFalse();
        assertThat(filter.mayMatch(closed(0, 20))).isTrue();
        assertThat(filter.mayMatch(closed(30, 31))).isTrue();
        assertThat(filter.mayMatch(closed(40, 50))).isTrue();
        assertThat(filter.mayMatch(closed(41, 50))).isFalse();
        assertThat(filter.mayMatch(FilterPredicate.none())).isTrue();
        assertThat(filter.mayMatch(new FilterPredicate(List.of(KeyRange.all()))))
                .isTrue();
    }

    /** Null is 00, of numbers with a fraction 00 00. */
    @Test
    void absentValuesAreInRangesThatHoldTheNullMarkerAlone() {
        ComponentFilter absent =
                ComponentFilter.builder(1).add(0, value(5)).addAbsent(0).build();
        ComponentFilter present = ComponentFilter.builder(1).add(0, value(5)).build();
        KeyRange openBelow = KeyRange.closed(null, new byte[] {3});
        KeyRange aboveNull = KeyRange.between(new byte[] {0}, false, new byte[] {3}, true);
        KeyRange aboveWideNull = KeyRange.between(new byte[] {0, 0}, false, new byte[] {3}, true);
        KeyRange isNull = KeyRange.closed(new byte[] {0}, new byte[] {0});
        KeyRange isWideNull = KeyRange.closed(new byte[] {0, 0}, new byte[] {0, 0});
        assertThat(absent.mayMatch(closed(6, 7))).isFalse();
        assertThat(absent.mayMatch(closed(4, 7))).isTrue();
        for (KeyRange range : List.of(openBelow, isNull, isWideNull)) {
            FilterPredicate predicate = new FilterPredicate(List.of(range));
            assertThat(absent.mayMatch(predicate)).as("%s", range).isTrue();
            assertThat(present.mayMatch(predicate)).as("%s", range).isFalse();
        }
        for (KeyRange range : List.of(aboveNull, aboveWideNull)) {
            FilterPredicate predicate = new FilterPredicate(List.of(range));
            assertThat(absent.mayMatch(predicate)).as("%s", range).isFalse();
        }
    }

    @Test
    void whatIsUnknownForbidsPruning() {
        ComponentFilter filter =
                ComponentFilter.builder(1).add(0, value(5)).addUnknown(0).build();
        assertThat(filter.mayMatch(closed(6, 7))).isTrue();
        assertThat(ComponentFilter.unknown(1).mayMatch(closed(6, 7))).isTrue();
        ComponentFilter union = ComponentFilter.union(filter(20, 40), filter);
        assertThat(union.mayMatch(closed(50, 60))).isTrue();
        assertThat(filter.hasAbsent(0)).as("retention keeps it").isTrue();
    }

    @Test
    void pointsAreBoundedByBothCoordinates() {
        ComponentFilter filter = points(new Point(1, 10), new Point(3, -4));
        assertThat(filter.box(0)).isEqualTo(new Rectangle(1, -4, 3, 10));
        assertThat(filter.mayMatch(window(SpatialKind.POINT, 2, 0, 2, 0))).isTrue();
        assertThat(filter.mayMatch(window(SpatialKind.POINT, 3, 10, 9, 99))).isTrue();
        assertThat(filter.mayMatch(window(SpatialKind.POINT, 2, 10.5, 2, 99))).isFalse();
        assertThat(filter.mayMatch(window(SpatialKind.POINT, 3.5, 0, 4, 1))).isFalse();
        assertThat(filter.mayMatch(window(SpatialKind.POINT, -1, 0, 0.5, 1))).isFalse();
        ComponentFilter none =
                ComponentFilter.builder(places("point")).addAbsent(0).build();
        assertThat(none.mayMatch(window(SpatialKind.POINT, 0, 0, 9, 9)))
                .as("a record without a point is in no window")
                .isFalse();
        assertThat(ComponentFilter.union(none, filter)).isNotEqualTo(filter);
        assertThat(ComponentFilter.union(none, filter).box(0)).isEqualTo(filter.box(0));
        assertThat(ComponentFilter.union(points(new Point(-7, 0)), filter).box(0))
                .isEqualTo(new Rectangle(-7, -4, 3, 10));
    }

    @Test
    void rectanglesAreBoundedByWhatHoldsThemAll() {
        List<KeySpec> fields = places("rectangle");
        KeySpec field = fields.getFirst();
        ComponentFilter filter = ComponentFilter.builder(fields)
                .add(0, Slice.of(field.encode(new Rectangle(0, 0, 9, 1))))
                .add(0, Slice.of(field.encode(new Rectangle(2, 5, 3, 6))))
                .build();
        assertThat(filter.box(0)).isEqualTo(new Rectangle(0, 0, 9, 6));
        assertThat(filter.mayMatch(window(SpatialKind.RECTANGLE, 9, 6, 10, 10))).isTrue();
        assertThat(filter.mayMatch(window(SpatialKind.RECTANGLE, 9.5, 0, 10, 10)))
                .isFalse();
    }

    /** Ordered by x, then y, they say nothing of y; of rectangles nothing of the right side. */
    @Test
    void filtersOfTheOldFormBoundXAlone() {
        Slice low = Slice.of(places("point").getFirst().encode(new Point(1, 10)));
        Slice high = Slice.of(places("point").getFirst().encode(new Point(3, -4)));
        ComponentFilter filter =
                ComponentFilter.builder(1).add(0, low).add(0, high).build();
        assertThat(filter.box(0)).isNull();
        assertThat(filter.mayMatch(window(SpatialKind.POINT, 2, 50, 2, 60))).isTrue();
        assertThat(filter.mayMatch(window(SpatialKind.POINT, 3.5, 0, 4, 1))).isFalse();
        assertThat(filter.mayMatch(window(SpatialKind.POINT, 0, 0, 0.5, 1))).isFalse();
        ComponentFilter union = ComponentFilter.union(filter, points(new Point(2, 0)));
        assertThat(union.mayMatch(window(SpatialKind.POINT, 2, 50, 2, 60)))
                .as("what is not known of y stays unknown")
                .isTrue();
        Rectangle wide = new Rectangle(1, 0, 100, 1);
        Slice area = Slice.of(places("rectangle").getFirst().encode(wide));
        ComponentFilter areas = ComponentFilter.builder(1).add(0, area).build();
        assertThat(areas.mayMatch(window(SpatialKind.RECTANGLE, 50, 0, 60, 1))).isTrue();
        assertThat(areas.mayMatch(window(SpatialKind.RECTANGLE, 0, 0, 0.5, 1))).isFalse();
    }

    @Test
    void aFilterBeforeVersion4PrunesNothingWhereValuesAreAbsent() {
        byte[] old = {1, 3, 1, 0, 5, 1, 0, 5};
        ComponentFilter filter =
                ComponentFilter.decode(new MetaReader("f", 0, MemorySegment.ofArray(old)), 3);
        assertThat(filter.mayMatch(closed(6, 7))).as("2 may stand for unknown").isTrue();
        assertThat(filter.min(0)).containsExactly(5);
        old[1] = 4;
        assertThatThrownBy(() -> ComponentFilter.decode(
                        new MetaReader("f", 0, MemorySegment.ofArray(old)), 3))
                .isInstanceOf(CorruptionException.class)
                .hasMessageContaining("filter flags");
    }

    @Test
    void whatNoWriterWritesIsDamage() {
        ByteSink sink = new ByteSink(64, 1 << 10);
        points(new Point(1, 10), new Point(3, -4)).encode(sink);
        byte[] sound = sink.asSlice(new Slice()).toByteArray();
        int boxOffset = sound.length - 4 * Double.BYTES;
        assertThat(decoded(sound)).isEqualTo(points(new Point(1, 10), new Point(3, -4)));
        isDamage(sound, bytes -> bytes[1] = 16, "filter flags");
        isDamage(sound, bytes -> bytes[1] = 4, "filter flags");
        isDamage(sound, bytes -> bytes[boxOffset + 7] = (byte) 0x7F, "filter box");
        isDamage(sound, bytes -> bytes[boxOffset + 23] |= (byte) 0x80, "filter box");
    }

    private static ComponentFilter decoded(byte[] bytes) {
        return ComponentFilter.decode(
                new MetaReader("f", 0, MemorySegment.ofArray(bytes)), ComponentMeta.VERSION);
    }

    private static void isDamage(byte[] sound, Consumer<byte[]> forger, String what) {
        byte[] forged = sound.clone();
        forger.accept(forged);
        assertThatThrownBy(() -> decoded(forged))
                .isInstanceOf(CorruptionException.class)
                .hasMessageContaining(what);
    }

    private static List<KeySpec> places(String type) {
        RecordType record = RecordType.builder().field("place", type + "?").build();
        return List.of(KeySpec.of(record, List.of("place"), "filter"));
    }

    private static ComponentFilter points(Point... points) {
        List<KeySpec> fields = places("point");
        ComponentFilter.Builder builder = ComponentFilter.builder(fields);
        for (Point point : points) {
            builder.add(0, Slice.of(fields.getFirst().encode(point)));
        }
        return builder.build();
    }

    private static FilterPredicate window(
            SpatialKind kind, double minX, double minY, double maxX, double maxY) {
        return new FilterPredicate(
                List.of(KeyRange.all()),
                List.of(new FilterPredicate.Window(
                        0, kind, new Rectangle(minX, minY, maxX, maxY))));
    }

    @Test
    void nothingMatchesNothing() {
        ComponentFilter filter = ComponentFilter.builder(1).build();
        assertThat(filter.mayMatch(closed(0, 100))).isFalse();
        assertThat(filter.mayMatch(FilterPredicate.none())).isTrue();
        assertThat(filter.min(0)).isNull();
        assertThat(ComponentFilter.none().mayMatch(closed(0, 100))).isTrue();
    }

    @Test
    void everyFieldMustMatch() {
        ComponentFilter filter =
                ComponentFilter.builder(2).add(0, value(10)).add(1, value(20)).build();
        assertThat(filter.mayMatch(both(10, 20))).isTrue();
        assertThat(filter.mayMatch(both(10, 21))).isFalse();
        assertThat(filter.mayMatch(both(11, 20))).isFalse();
    }

    @Test
    void aUnionCoversBoth() {
        ComponentFilter union = ComponentFilter.union(filter(20, 40), filter(30, 90));
        assertThat(union).isEqualTo(filter(20, 90));
        assertThat(union).isNotEqualTo(filter(20, 40));
        ComponentFilter absent = ComponentFilter.builder(1).addAbsent(0).build();
        assertThat(ComponentFilter.union(absent, union).hasAbsent(0)).isTrue();
        assertThat(ComponentFilter.union(absent, union).max(0)).containsExactly(90);
    }

    @Test
    void whatIsEncodedIsDecoded() {
        KeySpec place = places("point").getFirst();
        ComponentFilter filter = ComponentFilter.builder(List.of(place, place, place, place))
                .add(0, Slice.of(place.encode(new Point(-0.0, 7))))
                .add(0, Slice.of(place.encode(new Point(1, 1e300))))
                .addAbsent(1)
                .addUnknown(2)
                .build();
        ByteSink sink = new ByteSink(16, 1 << 20);
        filter.encode(sink);
        MetaReader reader = new MetaReader("f", 0, sink.segment().asSlice(0, sink.length()));
        assertThat(ComponentFilter.decode(reader, ComponentMeta.VERSION)).isEqualTo(filter);
        reader.end("filter");
    }

    private static ComponentFilter filter(int min, int max) {
        return ComponentFilter.builder(1).add(0, value(max)).add(0, value(min)).build();
    }

    private static FilterPredicate closed(int low, int high) {
        return new FilterPredicate(List.of(range(low, high)));
    }

    private static FilterPredicate both(int first, int second) {
        return new FilterPredicate(List.of(range(first, first), range(second, second)));
    }

    private static KeyRange range(int low, int high) {
        return KeyRange.closed(new byte[] {(byte) low}, new byte[] {(byte) high});
    }

    private static Slice value(int value) {
        return Slice.of(new byte[] {(byte) value});
    }
}
