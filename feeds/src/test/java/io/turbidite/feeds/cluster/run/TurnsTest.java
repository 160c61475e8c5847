package io.turbidite.feeds.cluster.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** Whoever works turn by turn says once why it has ended. */
class TurnsTest {
    private static final class Heard extends Handler {
        final List<LogRecord> records = new CopyOnWriteArrayList<>();

        @Override
        public void publish(LogRecord record) {
            records.add(record);
        }

        @Override
        public void flush() {
            // nothing is kept back
        }

        @Override
        public void close() {
            // nothing is open
        }
    }

    @Test
    void a_failure_is_logged_once() {
        Logger logger = Logger.getLogger(Turns.class.getName());
        Heard heard = new Heard();
        logger.addHandler(heard);
        IllegalStateException why = new IllegalStateException("the disk is gone");
        try (Tasks tasks = ThreadTasks.create("turns");
                Turns turns = new Turns(
                        "cluster-node-n1", tasks, Clock.system(), Duration.ofMillis(1), () -> {
                            throw why;
                        })) {
            turns.await(() -> false);
            assertThat(turns.failure()).isSameAs(why);
            assertThat(turns.offer(() -> {})).isFalse();
        } finally {
            logger.removeHandler(heard);
        }
        assertThat(heard.records).hasSize(1);
        LogRecord record = heard.records.getFirst();
        assertThat(record.getLevel()).isEqualTo(Level.SEVERE);
        assertThat(record.getThrown()).isSameAs(why);
        assertThat(record.getMessage()).startsWith("cluster-node-n1 has ended");
    }
}
