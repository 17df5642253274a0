# A newcomer's first look: installs what is needed, builds, profiles, shows.
.PHONY: demo demo-run
demo: deps-demo
	@$(MAKE) --no-print-directory demo-run
demo-run: all
	@demo/run.sh $(B)/softpmu $(B)/demo
