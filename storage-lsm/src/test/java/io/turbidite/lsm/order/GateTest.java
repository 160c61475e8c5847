package io.turbidite.lsm.order;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.Tier;
import io.turbidite.core.task.ThreadTasks;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;

class GateTest {
    private static final int ROUNDS = Tier.count(200_000, 500_000, 20_000_000);
    private static final int PASSING = 3;

    /** Until those who wait outside are passing again. */
    private static final int SPINS = 30;

    /** Who closes it without waiting asks once: no means that somebody has it closed. */
    @Test
    void a_gate_that_nobody_has_closed_is_closed_by_one_call_whoever_comes_and_goes()
            throws Exception {
        AtomicBoolean stopped = new AtomicBoolean();
        try (ThreadTasks tasks = ThreadTasks.create("gate");
                ExecutorService executor = Executors.newFixedThreadPool(PASSING)) {
            Gate gate = new Gate(tasks);
            List<Future<?>> passing = new ArrayList<>();
            for (int i = 0; i < PASSING; i++) {
                passing.add(executor.submit(() -> {
                    while (!stopped.get()) {
                        if (gate.tryEnter()) {
                            gate.leave();
                        }
                    }
                }));
            }
            int refused = 0;
            for (int i = 0; i < ROUNDS; i++) {
                if (gate.tryClose()) {
                    gate.open();
                } else {
                    refused++;
                }
                for (int spin = 0; spin < SPINS; spin++) {
                    Thread.onSpinWait();
                }
            }
            stopped.set(true);
            for (Future<?> one : passing) {
                one.get();
            }
            assertThat(refused).isZero();
        }
    }
}
