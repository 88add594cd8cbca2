@echo off
rem Windows: double-click.
cd /d "%~dp0"
py -3 --version >nul 2>&1 && (py -3 serve.py %* & goto end)
python --version >nul 2>&1 && (python serve.py %* & goto end)
echo tile-by-tile: no Python is here: install it from python.org, or open site\index.html in a browser to read without running anything
:end
if errorlevel 1 pause
