package io.turbidite.feeds.web.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.turbidite.feeds.web.http.SpareBytes;

import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Whole lines, however they come. */
class LineBufferTest {
    private final SpareBytes spare = new SpareBytes();

    private static String text(LineBuffer.Lines lines) {
        LineBuffer.Text text = lines.text();
        return new String(text.bytes(), 0, text.byteCount(), StandardCharsets.UTF_8);
    }

    private static String randomText(Random random) {
        StringBuilder text = new StringBuilder(random.nextInt(4) == 0 ? "\uFEFF" : "");
        int lines = random.nextInt(60);
        for (int i = 0; i < lines; i++) {
            int length = random.nextInt(5) == 0 ? random.nextInt(3_000) : random.nextInt(30);
            text.append(String.valueOf((char) ('a' + random.nextInt(26))).repeat(length))
                    .append(random.nextInt(3) == 0 ? "\r\n" : "\n");
        }
        return text.append("x".repeat(random.nextInt(20))).toString();
    }

    @Test
    void piecesOfAnyLengthGiveTheSameLines() {
        for (int seed = 0; seed < 500; seed++) {
            Random random = new Random(seed);
            String text = randomText(random);
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            LineBuffer buffer = new LineBuffer(spare);
            StringBuilder got = new StringBuilder();
            List<LineBuffer.Text> held = new ArrayList<>();
            int records = 0;
            long nextLine = 1;
            for (int at = 0; at < bytes.length; ) {
                int count = Math.min(bytes.length - at, 1 + random.nextInt(9_000));
                buffer.append(Unpooled.wrappedBuffer(bytes, at, count));
                at += count;
                if (buffer.hasLines() && random.nextBoolean()) {
                    LineBuffer.Lines taken = buffer.takeLines();
                    assertThat(taken.firstLine()).isEqualTo(nextLine);
                    records += taken.recordCount();
                    String lines = text(taken);
                    nextLine += lines.chars().filter(one -> one == '\n').count();
                    got.append(lines);
                    held.add(taken.text());
                }
                if (held.size() > 2) {
                    spare.give(held.removeFirst().bytes());
                }
            }
            String plain =
                    text.startsWith("\uFEFF") && text.indexOf('\n') >= 0 ? text.substring(1) : text;
            int end = plain.lastIndexOf('\n') + 1;
            if (buffer.hasLines()) {
                LineBuffer.Lines taken = buffer.takeLines();
                records += taken.recordCount();
                got.append(text(taken));
            }
            assertThat(got.toString()).as("seed %d", seed).isEqualTo(plain.substring(0, end));
            assertThat(buffer.unfinishedByteCount())
                    .isEqualTo(plain.substring(end).getBytes(StandardCharsets.UTF_8).length);
            long wanted = plain.substring(0, end)
                    .lines()
                    .filter(one -> !one.isEmpty())
                    .count();
            assertThat(records).as("seed %d", seed).isEqualTo((int) wanted);
            buffer.close();
        }
    }

    @Test
    void whatIsTakenIsNotWrittenTo() {
        LineBuffer buffer = new LineBuffer(spare);
        String large = "a".repeat(9_000) + "\n";
        buffer.append(Unpooled.copiedBuffer(large + "tail", StandardCharsets.UTF_8));
        LineBuffer.Lines first = buffer.takeLines();
        buffer.append(Unpooled.copiedBuffer("b".repeat(9_000) + "\n", StandardCharsets.UTF_8));
        assertThat(text(first)).isEqualTo(large);
        assertThat(text(buffer.takeLines())).isEqualTo("tail" + "b".repeat(9_000) + "\n");
        assertThat(buffer.byteCount()).isZero();
    }
}
