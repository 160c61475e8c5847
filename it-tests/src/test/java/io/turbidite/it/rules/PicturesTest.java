package io.turbidite.it.rules;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;

import java.awt.geom.Line2D;
import java.awt.geom.Path2D;
import java.awt.geom.PathIterator;
import java.awt.geom.Point2D;
import java.awt.geom.Rectangle2D;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import javax.xml.parsers.DocumentBuilderFactory;

/**
 * Pictures can be read: each text lies within the picture and within the box that it stands in, and
 * nothing lies across it, be it another text or an arrow.
 *
 * <p>Widths are those of DejaVu Sans, the widest of the fonts that browsers take for
 * {@code sans-serif}: a text that fits in it fits in the others.
 */
class PicturesTest {
    private static final Path HOME =
            Objects.requireNonNull(Path.of("").toAbsolutePath().getParent());

    private static final Pattern STEP = Pattern.compile("([MLHVC])([^A-Za-z]*)");
    private static final Pattern NUMBER = Pattern.compile("-?\\d+(?:\\.\\d+)?");

    private record Text(String words, Rectangle2D box, Point2D middle) {}

    private record Picture(
            Rectangle2D area, List<Text> texts, List<Rectangle2D> boxes, List<Path2D> lines) {}

    private static Picture read(String svg) throws Exception {
        Element root = DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new ByteArrayInputStream(svg.getBytes(StandardCharsets.UTF_8)))
                .getDocumentElement();
        double[] view = numbers(root.getAttribute("viewBox"));
        Picture picture = new Picture(
                new Rectangle2D.Double(view[0], view[1], view[2], view[3]),
                new ArrayList<>(),
                new ArrayList<>(),
                new ArrayList<>());
        collect(root, picture);
        return picture;
    }

    private static void collect(Element element, Picture into) {
        switch (element.getTagName()) {
            case "text" -> {
                if (!element.getTextContent().isBlank()) {
                    into.texts.add(text(element));
                }
            }
            case "rect" -> {
                Rectangle2D box = new Rectangle2D.Double(
                        number(element, "x"),
                        number(element, "y"),
                        number(element, "width"),
                        number(element, "height"));
                if (box.getWidth() < into.area.getWidth()) {
                    into.boxes.add(box);
                }
            }
            case "path" -> {
                String steps = element.getAttribute("d");
                // closed shapes are areas: bars, heads of arrows
                if (!steps.contains("z")) {
                    into.lines.add(line(steps));
                }
            }
            case "marker" -> {
                return;
            }
            default -> {}
        }
        NodeList children = element.getChildNodes();
        for (int i = 0; i < children.getLength(); i++) {
            if (children.item(i) instanceof Element child) {
                collect(child, into);
            }
        }
    }

    private static Text text(Element element) {
        double size = Double.parseDouble(inherited(element, "font-size", "16"));
        boolean bold = inherited(element, "font-weight", "").equals("bold");
        String words = element.getTextContent().strip().replaceAll("\\s+", " ");
        double width = words.chars().mapToDouble(PicturesTest::ems).sum() * size * (bold ? 1.1 : 1);
        double x = number(element, "x");
        double left = switch (inherited(element, "text-anchor", "start")) {
            case "middle" -> x - width / 2;
            case "end" -> x - width;
            default -> x;
        };
        double y = number(element, "y");
        return new Text(
                words,
                new Rectangle2D.Double(left, y - 0.72 * size, width, 0.92 * size),
                new Point2D.Double(left + width / 2, y - 0.3 * size));
    }

    /** A letter's width in parts of the font's size. */
    private static double ems(int letter) {
        if ("ijlI.,:;'|!".indexOf(letter) >= 0) {
            return 0.31;
        }
        if (" frt()[]-/·".indexOf(letter) >= 0) {
            return 0.37;
        }
        if ("mwMW%…→".indexOf(letter) >= 0) {
            return 0.92;
        }
        return Character.isUpperCase(letter) ? 0.70 : 0.60;
    }

    private static String inherited(Element element, String name, String otherwise) {
        for (Node node = element; node instanceof Element each; node = node.getParentNode()) {
            if (each.hasAttribute(name)) {
                return each.getAttribute(name);
            }
        }
        return otherwise;
    }

    private static double number(Element element, String name) {
        return element.hasAttribute(name) ? Double.parseDouble(element.getAttribute(name)) : 0;
    }

    private static double[] numbers(String list) {
        return NUMBER.matcher(list)
                .results()
                .mapToDouble(number -> Double.parseDouble(number.group()))
                .toArray();
    }

    private static Path2D line(String steps) {
        assertThat(steps).matches("[MLHVC0-9 .,-]*");
        Path2D line = new Path2D.Double();
        Matcher step = STEP.matcher(steps);
        while (step.find()) {
            double[] to = numbers(step.group(2));
            switch (step.group(1)) {
                case "M" -> line.moveTo(to[0], to[1]);
                case "L" -> line.lineTo(to[0], to[1]);
                case "H" -> line.lineTo(to[0], line.getCurrentPoint().getY());
                case "V" -> line.lineTo(line.getCurrentPoint().getX(), to[0]);
                default -> line.curveTo(to[0], to[1], to[2], to[3], to[4], to[5]);
            }
        }
        return line;
    }

    private static boolean crosses(Path2D line, Rectangle2D box) {
        double[] to = new double[6];
        double x = 0;
        double y = 0;
        for (PathIterator each = line.getPathIterator(null, 0.5); !each.isDone(); each.next()) {
            if (each.currentSegment(to) == PathIterator.SEG_LINETO
                    && box.intersectsLine(new Line2D.Double(x, y, to[0], to[1]))) {
                return true;
            }
            x = to[0];
            y = to[1];
        }
        return false;
    }

    private static List<String> collisions(String svg) throws Exception {
        Picture picture = read(svg);
        List<String> found = new ArrayList<>();
        for (int i = 0; i < picture.texts.size(); i++) {
            Text text = picture.texts.get(i);
            if (!picture.area.contains(text.box)) {
                found.add("\"" + text.words + "\" leaves the picture");
            }
            for (Rectangle2D box : picture.boxes) {
                if (box.contains(text.middle) && !box.contains(text.box)) {
                    found.add("\"" + text.words + "\" leaves its box");
                } else if (!box.contains(text.middle)
                        && box.intersects(text.box)
                        && !text.box.contains(box)) {
                    found.add("\"" + text.words + "\" reaches into a box beside it");
                }
            }
            for (Text other : picture.texts.subList(i + 1, picture.texts.size())) {
                if (text.box.intersects(other.box)) {
                    found.add("\"" + text.words + "\" and \"" + other.words + "\" collide");
                }
            }
            for (Path2D line : picture.lines) {
                if (crosses(line, text.box)) {
                    found.add("a line crosses \"" + text.words + "\"");
                }
            }
        }
        return found;
    }

    @Test
    void texts_fit_their_boxes_and_nothing_lies_across_them() throws Exception {
        List<String> found = new ArrayList<>();
        int seen = 0;
        try (Stream<Path> files = Files.list(HOME.resolve("docs/images"))) {
            for (Path file : (Iterable<Path>) files.sorted()::iterator) {
                if (file.toString().endsWith(".svg")) {
                    seen++;
                    collisions(Files.readString(file))
                            .forEach(each -> found.add(file.getFileName() + ": " + each));
                }
            }
        }
        assertThat(seen).isGreaterThan(10);
        assertThat(found).isEmpty();
    }

    @Test
    void each_kind_of_collision_is_found() throws Exception {
        assertThat(collisions("""
                <svg viewBox="0 0 200 100" font-size="10">
                  <rect x="10" y="10" width="30" height="20"/>
                  <text x="12" y="24">wider than it</text>
                  <text x="150" y="60">out of the picture</text>
                  <text x="10" y="80">one</text><text x="20" y="82">two</text>
                  <path d="M95 40V70"/><text x="80" y="55">across</text>
                </svg>"""))
                .containsExactly(
                        "\"wider than it\" reaches into a box beside it",
                        "\"out of the picture\" leaves the picture",
                        "\"one\" and \"two\" collide",
                        "a line crosses \"across\"");
    }
}
