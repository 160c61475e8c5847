package io.turbidite.lsm.component;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;

import org.junit.jupiter.api.Test;

import java.util.List;

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

    @Test
    void absentValuesForbidPruning() {
        ComponentFilter filter =
                ComponentFilter.builder(1).add(0, value(5)).addAbsent(0).build();
        assertThat(filter.mayMatch(closed(6, 7))).isTrue();
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
        ComponentFilter filter = ComponentFilter.builder(3)
                .add(0, value(1))
                .add(0, Slice.of(new byte[300]))
                .addAbsent(1)
                .add(2, Slice.of(new byte[0]))
                .build();
        ByteSink sink = new ByteSink(16, 1 << 20);
        filter.encode(sink);
        MetaReader reader = new MetaReader("f", 0, sink.segment().asSlice(0, sink.length()));
        assertThat(ComponentFilter.decode(reader)).isEqualTo(filter);
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
