package io.turbidite.core.text;

import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.ar.ArabicAnalyzer;
import org.apache.lucene.analysis.cjk.CJKAnalyzer;
import org.apache.lucene.analysis.core.SimpleAnalyzer;
import org.apache.lucene.analysis.core.WhitespaceAnalyzer;
import org.apache.lucene.analysis.cz.CzechAnalyzer;
import org.apache.lucene.analysis.da.DanishAnalyzer;
import org.apache.lucene.analysis.de.GermanAnalyzer;
import org.apache.lucene.analysis.el.GreekAnalyzer;
import org.apache.lucene.analysis.en.EnglishAnalyzer;
import org.apache.lucene.analysis.es.SpanishAnalyzer;
import org.apache.lucene.analysis.fi.FinnishAnalyzer;
import org.apache.lucene.analysis.fr.FrenchAnalyzer;
import org.apache.lucene.analysis.hi.HindiAnalyzer;
import org.apache.lucene.analysis.hu.HungarianAnalyzer;
import org.apache.lucene.analysis.it.ItalianAnalyzer;
import org.apache.lucene.analysis.nl.DutchAnalyzer;
import org.apache.lucene.analysis.no.NorwegianAnalyzer;
import org.apache.lucene.analysis.pt.PortugueseAnalyzer;
import org.apache.lucene.analysis.ro.RomanianAnalyzer;
import org.apache.lucene.analysis.ru.RussianAnalyzer;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.analysis.sv.SwedishAnalyzer;
import org.apache.lucene.analysis.tr.TurkishAnalyzer;
import org.apache.lucene.util.Version;
import org.jspecify.annotations.Nullable;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * The analyzers of Lucene that have a name here. The library is optional: where it is missing,
 * whoever asks this class gets a {@link LinkageError}.
 */
final class LuceneAnalyzers {
    /** Null: not asked for yet. */
    private static volatile @Nullable Map<String, Supplier<Analyzer>> known;

    private LuceneAnalyzers() {}

    /**
     * Made at the first call, which fails where the library is missing. Were it made with the
     * class, the class would be broken for good: who instruments all loaded classes at once
     * (Lincheck) must then do it one by one, which takes minutes.
     */
    private static Map<String, Supplier<Analyzer>> byName() {
        Map<String, Supplier<Analyzer>> all = known;
        if (all == null) {
            all = new TreeMap<>(Map.ofEntries(
                    Map.entry("arabic", ArabicAnalyzer::new),
                    Map.entry("cjk", CJKAnalyzer::new),
                    Map.entry("czech", CzechAnalyzer::new),
                    Map.entry("danish", DanishAnalyzer::new),
                    Map.entry("dutch", DutchAnalyzer::new),
                    Map.entry("english", EnglishAnalyzer::new),
                    Map.entry("finnish", FinnishAnalyzer::new),
                    Map.entry("french", FrenchAnalyzer::new),
                    Map.entry("german", GermanAnalyzer::new),
                    Map.entry("greek", GreekAnalyzer::new),
                    Map.entry("hindi", HindiAnalyzer::new),
                    Map.entry("hungarian", HungarianAnalyzer::new),
                    Map.entry("italian", ItalianAnalyzer::new),
                    Map.entry("norwegian", NorwegianAnalyzer::new),
                    Map.entry("portuguese", PortugueseAnalyzer::new),
                    Map.entry("romanian", RomanianAnalyzer::new),
                    Map.entry("russian", RussianAnalyzer::new),
                    Map.entry("simple", SimpleAnalyzer::new),
                    Map.entry("spanish", SpanishAnalyzer::new),
                    Map.entry("standard", StandardAnalyzer::new),
                    Map.entry("swedish", SwedishAnalyzer::new),
                    Map.entry("turkish", TurkishAnalyzer::new),
                    Map.entry("whitespace", WhitespaceAnalyzer::new)));
            known = all;
        }
        return all;
    }

    static Set<String> names() {
        return byName().keySet();
    }

    static TokenCursor newCursor(String name) {
        Supplier<Analyzer> analyzer = byName().get(name);
        if (analyzer == null) {
            throw new IllegalArgumentException(name);
        }
        return new AnalyzerCursor(analyzer.get());
    }

    /** What tokens depend on beside the text and the name: Lucene's tables, and the JDK's. */
    static String tables() {
        return "lucene %s, unicode %s".formatted(Version.LATEST, UnicodeTables.letters());
    }
}
