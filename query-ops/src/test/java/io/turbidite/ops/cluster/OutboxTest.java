package io.turbidite.ops.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** One receiver that does not answer holds up nobody else, and has a bound. */
class OutboxTest {
    private static byte[] message(int number, int bytes) {
        byte[] message = new byte[bytes];
        message[0] = (byte) number;
        return message;
    }

    @Test
    void a_receiver_that_hangs_holds_up_no_other_and_what_has_no_room_is_lost() throws Exception {
        CountDownLatch answers = new CountDownLatch(1);
        CountDownLatch allSent = new CountDownLatch(100);
        List<Integer> toLively = Collections.synchronizedList(new ArrayList<>());
        int most = Outbox.WAITING_BYTES_MAX / ClusterMessages.BYTES_MAX;
        CountDownLatch asked = new CountDownLatch(1);
        try (Outbox outbox = new Outbox("test", (to, message) -> {
            if (to.equals("hung")) {
                asked.countDown();
                answers.await();
            } else {
                toLively.add((int) message[0]);
                allSent.countDown();
            }
        })) {
            outbox.send("hung", message(0, 1));
            assertThat(asked.await(10, TimeUnit.SECONDS)).isTrue();
            for (int i = 0; i < most + 3; i++) {
                outbox.send("hung", message(i, ClusterMessages.BYTES_MAX));
            }
            assertThat(outbox.lostCount()).isEqualTo(3);
            for (int i = 0; i < 100; i++) {
                outbox.send("lively", message(i, 1_000));
            }
            assertThat(allSent.await(10, TimeUnit.SECONDS)).isTrue();
            answers.countDown();
        }
        assertThat(toLively).isSorted().hasSize(100);
    }

    @Test
    void what_the_engine_throws_is_one_that_is_lost_and_the_next_goes_out() throws Exception {
        CountDownLatch second = new CountDownLatch(1);
        Outbox outbox = new Outbox("test", (_, message) -> {
            if (message[0] == 1) {
                throw new IllegalStateException("no way");
            }
            second.countDown();
        });
        outbox.send("n1", message(1, 1));
        outbox.send("n1", message(2, 1));
        assertThat(second.await(10, TimeUnit.SECONDS)).isTrue();
        outbox.close();
        assertThat(outbox.lostCount()).isEqualTo(1);
        outbox.send("n1", message(3, 1));
        assertThat(outbox.lostCount()).isEqualTo(2);
    }
}
