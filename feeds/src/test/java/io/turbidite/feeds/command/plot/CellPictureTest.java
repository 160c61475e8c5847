package io.turbidite.feeds.command.plot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.Rectangle;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;

/** Pictures of more cells than can be seen. */
class CellPictureTest {
    /** Their grid has more than a thousand columns or rows: one more is enough to say so. */
    @Test
    void more_cells_than_can_be_seen_are_not_gathered(@TempDir Path directory) {
        RecordType type = RecordType.builder().field("place", "point").build();
        CellPicture picture = CellPicture.to(directory.resolve("cells.svg"));
        for (int i = 0; i < 1_200_000; i++) {
            picture.add(new Rectangle(i, 0, i + 1.0, 1), 1);
        }
        assertThat(picture.keptCount()).isEqualTo(1_000_001);
        assertThatThrownBy(() -> picture.write("title", "place", type))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("take larger cells or a window");
    }
}
