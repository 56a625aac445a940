package io.steelyard.app;

import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.syntax.ArchRuleDefinition;

/**
 * Keeps the modules in the order of ARCHITECTURE.md: a module sees only what it is named to see.
 */
@AnalyzeClasses(packages = "io.steelyard", importOptions = ImportOption.DoNotIncludeTests.class)
final class ModuleOrderTest {
  @ArchTest
  static final ArchRule MODULES_SEE_ONLY_THOSE_ABOVE_THEM =
      layeredArchitecture()
          .consideringOnlyDependenciesInLayers()
          .layer("kernels")
          .definedBy("io.steelyard.kernels..")
          .layer("models")
          .definedBy("io.steelyard.models..")
          .layer("stats")
          .definedBy("io.steelyard.stats..")
          .layer("lab")
          .definedBy("io.steelyard.lab..")
          .layer("engines")
          .definedBy("io.steelyard.engines..")
          .layer("reports")
          .definedBy("io.steelyard.reports..")
          .layer("history")
          .definedBy("io.steelyard.history..")
          .layer("app")
          .definedBy("io.steelyard.app..")
          .whereLayer("kernels")
          .mayNotAccessAnyLayer()
          .whereLayer("models")
          .mayOnlyAccessLayers("kernels")
          .whereLayer("stats")
          .mayNotAccessAnyLayer()
          .whereLayer("lab")
          .mayOnlyAccessLayers("stats")
          .whereLayer("engines")
          .mayOnlyAccessLayers("lab", "models", "kernels")
          .whereLayer("reports")
          .mayOnlyAccessLayers("lab", "stats")
          .whereLayer("history")
          .mayOnlyAccessLayers("lab", "stats")
          .whereLayer("app")
          .mayNotBeAccessedByAnyLayer();

  @ArchTest
  static final ArchRule ENGINES_DO_NOT_SEE_EACH_OTHER =
      slices().matching("io.steelyard.engines.(*)..").should().notDependOnEachOther();

  @ArchTest
  static final ArchRule PACKAGES_OF_THE_LAB_FORM_NO_CYCLES =
      slices().matching("io.steelyard.lab.(*)..").should().beFreeOfCycles();

  @ArchTest
  static final ArchRule KERNELS_NEED_THE_JDK_ALONE =
      ArchRuleDefinition.classes()
          .that()
          .resideInAPackage("io.steelyard.kernels..")
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage("io.steelyard.kernels..", "java..", "jdk..");
}
