import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.codelibs.opensearch.runner.node.OpenSearchRunnerNode;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.plugins.Plugin;

/**
 * A node of OpenSearch for the tests, with the modules that the shop's adapter uses. Arguments: its folder, then
 * settings as name=value, lists with commas. It prints "ready" once it answers and runs until its input ends.
 */
public class Node {
  static final List<String> MODULES = List.of(
      "org.opensearch.analysis.common.CommonAnalysisPlugin",
      "org.opensearch.painless.PainlessPlugin",
      "org.opensearch.index.mapper.MapperExtrasPlugin",
      "org.opensearch.index.reindex.ReindexPlugin",
      "org.opensearch.transport.Netty4Plugin");
  static final String KNN = "org.opensearch.knn.plugin.KNNPlugin";

  public static void main(String[] arguments) throws Exception {
    Path folder = Path.of(arguments[0]);
    Files.createDirectories(folder.resolve("config"));
    Settings.Builder settings = Settings.builder().put("path.home", folder.toString());
    List<String> modules = new ArrayList<>(MODULES);
    for (String argument : List.of(arguments).subList(1, arguments.length)) {
      String[] pair = argument.split("=", 2);
      if (pair[0].equals("knn")) modules.add(KNN);
      else if (pair[1].contains(",")) settings.putList(pair[0], pair[1].split(","));
      else settings.put(pair[0], pair[1]);
    }
    List<Class<? extends Plugin>> plugins = new ArrayList<>();
    for (String name : modules) plugins.add(Class.forName(name).asSubclass(Plugin.class));
    Environment environment =
        InternalSettingsPreparer.prepareEnvironment(settings.build(), Map.of(), null, () -> "node");
    try (OpenSearchRunnerNode node = new OpenSearchRunnerNode(environment, plugins)) {
      node.start();
      System.out.println("ready");
      while (System.in.read() >= 0) {}
    }
  }
}
