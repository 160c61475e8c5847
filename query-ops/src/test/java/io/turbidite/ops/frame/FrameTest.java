package io.turbidite.ops.frame;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;

import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

class FrameTest {
    private static Slice slice(String text) {
        return Slice.of(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Reads every frame as it is pushed, and once more when the next one is. */
    private static final class Reader implements FrameWriter {
        private final List<List<String>> tuples = new ArrayList<>();
        private final List<Integer> frameSizes = new ArrayList<>();
        private int wantedFrames = Integer.MAX_VALUE;

        @Override
        public void open() {
            tuples.clear();
        }

        @Override
        public boolean frame(Frame frame) {
            frameSizes.add(frame.tupleCount());
            Slice slice = new Slice();
            for (int i = 0; i < frame.tupleCount(); i++) {
                List<String> tuple = new ArrayList<>();
                for (int field = 0; field < frame.fieldCount(); field++) {
                    tuple.add(frame.field(i, field, slice).toUtf8());
                }
                tuples.add(tuple);
            }
            return frameSizes.size() < wantedFrames;
        }

        @Override
        public void fail() {
            tuples.clear();
        }

        @Override
        public void close() {
            assertThat(tuples).isNotNull();
        }
    }

    @Test
    void tuples_of_any_size_come_out_as_they_went_in() {
        SplittableRandom random = new SplittableRandom(5);
        for (int fieldCount = 0; fieldCount < 4; fieldCount++) {
            Reader reader = new Reader();
            FrameEmitter emitter = new FrameEmitter(reader, fieldCount, Long.MAX_VALUE);
            List<List<String>> expected = new ArrayList<>();
            for (int i = 0; i < 3_000; i++) {
                List<String> tuple = new ArrayList<>();
                for (int field = 0; field < fieldCount; field++) {
                    int length = random.nextInt(random.nextInt(100) == 0 ? 200_000 : 50);
                    tuple.add(("" + (char) ('a' + random.nextInt(26))).repeat(length));
                }
                expected.add(tuple);
                emitter.emit(tuple.stream().map(FrameTest::slice).toArray(Slice[]::new));
            }
            emitter.flush();
            assertThat(emitter.flush()).isFalse();
            assertThat(reader.tuples).isEqualTo(expected);
        }
    }

    @Test
    void a_pushed_frame_stays_until_the_next_push() {
        List<Frame> frames = new ArrayList<>();
        FrameWriter keeping = new FrameWriter() {
            @Override
            public void open() {
                frames.clear();
            }

            @Override
            public boolean frame(Frame frame) {
                frames.add(frame);
                return true;
            }

            @Override
            public void fail() {
                frames.clear();
            }

            @Override
            public void close() {
                frames.clear();
            }
        };
        FrameEmitter emitter = new FrameEmitter(keeping, 1, 2);
        for (int i = 0; i < 4; i++) {
            emitter.emit(new Slice[] {slice("tuple " + i)});
        }
        assertThat(frames).hasSize(1);
        assertThat(frames.getFirst().field(1, 0, new Slice()).toUtf8()).isEqualTo("tuple 1");
    }

    @Test
    void a_reader_may_bound_the_tuples_of_a_frame_and_want_no_more() {
        Reader reader = new Reader();
        reader.wantedFrames = 2;
        FrameEmitter emitter = new FrameEmitter(reader, 1, 3);
        List<Boolean> wanted = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            if (emitter.emit(new Slice[] {slice("x")})) {
                wanted.add(emitter.wanted());
            }
        }
        assertThat(reader.frameSizes).containsExactly(3, 3, 3);
        assertThat(wanted).containsExactly(true, false, false);
    }

    @Test
    void the_layout_is_what_its_description_says() {
        Frame frame = new Frame(2).clear(64);
        frame.append(new Slice[] {slice("ab"), slice("c")});
        frame.append(new Slice[] {slice(""), slice("d")});
        Slice c = frame.field(0, 1, new Slice());
        assertThat(c.segment().get(Bytes.I32, 0)).isEqualTo(2);
        assertThat(c.segment().get(Bytes.I32, 4)).isEqualTo(2);
        assertThat(c.segment().get(Bytes.I32, 8)).isEqualTo(2);
        assertThat(c.segment().get(Bytes.I32, 12)).isEqualTo(3);
        assertThat(c.offset()).isEqualTo(8 + 8 + 2);
        assertThat(c.segment().get(Bytes.I32, 64 - 4)).isEqualTo(8);
        assertThat(c.segment().get(Bytes.I32, 64 - 8)).isEqualTo(8 + 8 + 3);
        frame.truncate(1);
        assertThat(frame.tupleCount()).isEqualTo(1);
        assertThat(c.segment().get(Bytes.I32, 0)).isEqualTo(1);
    }
}
