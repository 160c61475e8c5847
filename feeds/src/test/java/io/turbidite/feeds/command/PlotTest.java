package io.turbidite.feeds.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.Rectangle;
import io.turbidite.feeds.command.Command.Result;
import io.turbidite.feeds.command.plot.CellPicture;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.w3c.dom.Document;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import javax.imageio.ImageIO;
import javax.xml.parsers.DocumentBuilderFactory;

/** {@code query … --group-cell … --plot FILE}. */
class PlotTest {
    private static final int WHITE = 0xFFFFFFFF;
    private static final RecordType PLANE =
            RecordType.builder().field("place", "point").build();

    @TempDir
    private static Path directory;

    @TempDir
    private Path pictures;

    private static Path store = Path.of("");

    @BeforeAll
    static void load() throws IOException {
        store = Command.load(directory);
    }

    private static Result plot(Path file, String... options) {
        List<Object> args = new ArrayList<>(List.of("query", store, "Trips", "--plot", file));
        args.addAll(List.of(options));
        return Command.run(args.toArray());
    }

    private List<String> files() throws IOException {
        try (Stream<Path> all = Files.list(pictures)) {
            return all.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    /** Colours of the middles of the squares that a picture is cut into. */
    private static Set<Integer> colours(BufferedImage image) {
        Set<Integer> colours = new HashSet<>();
        for (int x = 100; x < 800; x++) {
            for (int y = 60; y < 700; y += 7) {
                colours.add(image.getRGB(x, y));
            }
        }
        return colours;
    }

    @Test
    void cells_are_drawn_and_told() throws IOException {
        Path file = pictures.resolve("cells.png");
        String rows = Command.run("query", store, "Trips", "--group-cell", "place=2,2")
                .out();
        Result result = plot(file, "--group-cell", "place=2,2");
        assertThat(result.err()).isEmpty();
        assertThat(result.code()).isZero();
        assertThat(result.out()).isEqualTo(rows).contains("\"cell\"");
        BufferedImage image = ImageIO.read(file.toFile());
        assertThat(image.getWidth()).isEqualTo(1_000);
        assertThat(colours(image)).contains(WHITE).hasSizeGreaterThan(1);
        assertThat(files()).containsExactly("cells.png");
    }

    @Test
    void svg_is_xml_with_one_figure_for_each_cell() throws Exception {
        Path few = pictures.resolve("few.SVG");
        Path many = pictures.resolve("many.svg");
        int fewFigures = figures(few, 10, 1);
        assertThat(figures(many, 100, 100)).isGreaterThanOrEqualTo(fewFigures + 9_990);
    }

    private static int figures(Path file, int columns, int rows) throws Exception {
        CellPicture picture = CellPicture.to(file);
        for (int x = 0; x < columns; x++) {
            for (int y = 0; y < rows; y++) {
                picture.add(new Rectangle(x, y, x + 1, y + 1), x + y + 1L);
            }
        }
        picture.write("Title", "place", PLANE);
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        factory.setFeature("http://apache.org/xml/features/nonvalidating/load-external-dtd", false);
        Document document = factory.newDocumentBuilder().parse(file.toFile());
        assertThat(document.getDocumentElement().getTagName()).isEqualTo("svg");
        return document.getElementsByTagName("rect").getLength()
                + document.getElementsByTagName("path").getLength();
    }

    @Test
    void what_has_no_records_is_white_and_what_has_most_is_darkest() throws IOException {
        Path file = pictures.resolve("two.png");
        CellPicture picture = CellPicture.to(file);
        picture.add(new Rectangle(0, 0, 1, 1), 1);
        picture.add(new Rectangle(2, 0, 3, 1), 100);
        picture.add(null, 7);
        picture.write("Two cells", "place", PLANE);
        BufferedImage image = ImageIO.read(file.toFile());
        List<Integer> across = new ArrayList<>();
        for (int x = 120; x < 850; x++) {
            int colour = image.getRGB(x, 400);
            if (across.isEmpty() || !across.getLast().equals(colour)) {
                across.add(colour);
            }
        }
        int dark = 0xFF800026;
        assertThat(across).contains(WHITE, dark);
        int few = across.stream().filter(c -> c != WHITE).findFirst().orElseThrow();
        assertThat(across.indexOf(few)).isLessThan(across.lastIndexOf(WHITE));
        assertThat(few & 0xFF00).isGreaterThan(dark & 0xFF00);
    }

    @Test
    void an_empty_answer_is_an_empty_picture() throws IOException {
        Path file = pictures.resolve("none.png");
        Result result =
                plot(file, "--group-cell", "place=1,1", "--within", "place=900,900,901,901");
        assertThat(result.err()).isEmpty();
        assertThat(result.code()).isZero();
        assertThat(ImageIO.read(file.toFile()).getHeight()).isEqualTo(800);
    }

    @ParameterizedTest
    @CsvSource({
        "cells.pdf,ends in neither .svg nor .png",
        "cells,ends in neither .svg nor .png",
        "no/such/cells.svg,there is no directory",
        "dir.svg,is a directory",
    })
    void a_bad_path_is_refused_before_anything_is_read(String name, String message)
            throws IOException {
        Files.createDirectory(pictures.resolve("dir.svg"));
        Result result = plot(pictures.resolve(name), "--group-cell", "place=2,2");
        assertThat(result.code()).isEqualTo(2);
        assertThat(result.err()).contains(message);
        assertThat(result.out()).isEmpty();
        assertThat(files()).containsExactly("dir.svg");
    }

    @Test
    void a_picture_needs_cells() throws IOException {
        Result result = plot(pictures.resolve("cells.svg"), "--group", "carrier");
        assertThat(result.code()).isEqualTo(2);
        assertThat(result.err()).contains("--group-cell");
        Result sums =
                plot(pictures.resolve("cells.svg"), "--group-cell", "place=2,2", "--sum", "delay");
        assertThat(sums.code()).isEqualTo(2);
        assertThat(sums.err()).contains("--plot draws the counts of cells", "--count");
        assertThat(files()).isEmpty();
    }

    @Test
    void cells_that_nobody_could_see_are_refused_and_the_old_picture_stays() throws IOException {
        Path file = pictures.resolve("old.svg");
        Files.writeString(file, "old");
        CellPicture picture = CellPicture.to(file);
        picture.add(new Rectangle(0, 0, 1, 1), 1);
        picture.add(new Rectangle(1_000, 0, 1_001, 1), 1);
        assertThatThrownBy(() -> picture.write("Far", "place", PLANE))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("1,001 by 1 cells");
        assertThat(Files.readString(file)).isEqualTo("old");
        assertThat(files()).containsExactly("old.svg");
    }
}
