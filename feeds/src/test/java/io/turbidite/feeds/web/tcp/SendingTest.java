package io.turbidite.feeds.web.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.turbidite.feeds.manage.FeedState;
import io.turbidite.feeds.web.http.SpareBytes;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** When the memory of lines is used again. */
class SendingTest {
    @TempDir
    private Path directory;

    private final SpareBytes spare = new SpareBytes();
    private final LineBuffer lines = new LineBuffer(new SpareBytes());

    private Sending sending(TcpFixture served) {
        Sending.Start start = new Sending.Start(null, 0, null, () -> {});
        return new Sending(served.feeds, "lines", false, start, 30_000, spare);
    }

    /** Hands in a line, and returns the array that it lies in. */
    private byte[] offer(Sending sending) {
        String line = "{\"id\": 1, \"name\": \"%s\"}\n".formatted("n".repeat(5_000));
        lines.append(Unpooled.copiedBuffer(line, StandardCharsets.UTF_8));
        LineBuffer.Lines taken = lines.takeLines();
        sending.offer(taken, null);
        return taken.text().bytes();
    }

    private static void settle(Sending sending) {
        TcpFixture.await(() -> {
            sending.settle();
            return sending.isDone();
        });
    }

    @Test
    void whatIsDurableIsSpare() {
        try (TcpFixture served = TcpFixture.open(directory)) {
            Sending sending = sending(served);
            byte[] bytes = offer(sending);
            settle(sending);
            assertThat(spare.take(bytes.length)).isSameAs(bytes);
            assertThat(served.count("Lines")).isEqualTo(1);
        }
    }

    @Test
    void whatWasHandedInTwiceIsNot() {
        try (TcpFixture served = TcpFixture.open(directory)) {
            served.feeds.pause("lines");
            TcpFixture.await(() -> served.feeds.status("lines").state() == FeedState.PAUSED);
            Sending sending = sending(served);
            byte[] bytes = offer(sending);
            assertThat(sending.wantsRetry()).isTrue();
            served.feeds.resume("lines");
            TcpFixture.await(() -> served.feeds.status("lines").state() == FeedState.WAITING);
            sending.retry(1);
            settle(sending);
            assertThat(spare.take(bytes.length)).isNotSameAs(bytes);
            assertThat(served.count("Lines")).isEqualTo(1);
        }
    }
}
