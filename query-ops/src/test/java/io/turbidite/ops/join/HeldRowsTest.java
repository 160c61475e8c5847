package io.turbidite.ops.join;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.run.Rows;
import io.turbidite.ops.run.RunOptions;

import org.junit.jupiter.api.Test;

import java.util.List;

class HeldRowsTest {
    private static final RecordType TYPE =
            RecordType.builder().field("id", "int64").build();
    private static final int ROWS = 20_000;

    private final SimDisk disk = new SimDisk(1, Profile.STRICT);
    private int sinceRow;

    /** Most looks for a stop between two rows, before anything is written. */
    private int together;

    private final class Numbers implements Rows {
        private final RecordWriter writer = new RecordWriter(TYPE);
        private final RecordView row = new RecordView(TYPE);
        private long next;

        @Override
        public boolean next() {
            sinceRow = 0;
            if (next == ROWS) {
                return false;
            }
            writer.begin();
            writer.setLong(0, next++);
            row.wrap(writer.finish());
            return true;
        }

        @Override
        public RecordView row() {
            return row;
        }

        @Override
        public void close() {}
    }

    private boolean look() {
        sinceRow++;
        together = disk.files().isEmpty() ? Math.max(together, sinceRow) : together;
        return false;
    }

    @Test
    void a_stop_is_looked_for_while_rows_move_out_of_a_full_table() {
        RunOptions options = RunOptions.defaults()
                .withMemoryBytesMax(1 << 20)
                .withSpill(disk, "spill")
                .withStop(this::look);
        OperatorMeter meter = new OperatorMeter();
        JoinSide side = new JoinSide(new Numbers(), TYPE, List.of(0), meter);
        HeldRows held = new HeldRows(side, false, false, null, options, meter);
        assertThat(held.build()).isTrue();
        assertThat(held.hasSpilled()).isTrue();
        assertThat(together).isGreaterThanOrEqualTo(3);
        held.release();
        assertThat(disk.files()).isEmpty();
    }
}
